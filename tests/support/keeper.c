/*
 * keeper.c - what systemd does for a service with a socket unit: it holds the listening socket and
 * starts the program with it, again and again. A test could not hold it itself: Node.js accepts
 * connections of whatever it listens on.
 *
 *     keeper PORT PROGRAM ARGUMENT...
 *
 * HUP restarts the program: it gets TERM, and its successor is started when it has ended. TERM
 * stops it likewise, and the keeper ends with its status; as it does when the program ends by
 * itself.
 */
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FIRST_HANDED = 3, BACKLOG = 4096 };

static int open_socket(const char *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    int on = 1, fd = socket(AF_INET, SOCK_STREAM, 0);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons((in_port_t)atoi(port));
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) ||
        listen(fd, BACKLOG)) {
        perror("keeper: cannot listen");
        exit(1);
    }
    return fd;
}

static pid_t start(int listening, char **arguments)
{
    pid_t keeper = getpid(), child = fork();
    sigset_t none;
    char number[16];

    if (child != 0)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != keeper)
        _exit(127);
    dup2(listening, FIRST_HANDED);
    snprintf(number, sizeof number, "%d", (int)getpid());
    setenv("LISTEN_PID", number, 1);
    setenv("LISTEN_FDS", "1", 1);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execv(arguments[0], arguments);
    perror(arguments[0]);
    _exit(127);
}

int main(int argc, char **argv)
{
    bool again = true;
    int listening, status = 0, number = 0;
    sigset_t heeded;
    pid_t child;

    if (argc < 3)
        return 2;
    listening = open_socket(argv[1]);
    sigemptyset(&heeded);
    sigaddset(&heeded, SIGHUP);
    sigaddset(&heeded, SIGTERM);
    sigaddset(&heeded, SIGCHLD);
    sigprocmask(SIG_BLOCK, &heeded, NULL);
    while (again) {
        again = false;
        child = start(listening, argv + 2);
        while (sigwait(&heeded, &number) == 0 && number != SIGCHLD) {
            again = number == SIGHUP;
            kill(child, SIGTERM);
        }
        waitpid(child, &status, 0);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
