/*
 * main.c - the table of verbs: the source of dispatch, help, completion and manual.
 */
#include "tools/common/program.h"
#include "tools/common/visible.h"
#include "tools/mcpxctl/core/verbs.h"

/* The output of --json differs from verb to verb. */
#define JSON_OPTION(help) SWITCH("--json", help)
#define JSON_LINES_OPTION JSON_OPTION("print raw JSON, one object per line")
#define DELIVERY_OPTIONS                                                                      \
    OPTION("--timeout", "S", VALUE_SECONDS, 0,                                                \
           "how long to wait until it has its place in the topic, 0 for ever; 15"),           \
        JSON_OPTION("print the id in a JSON object")
#define RESPONSE_OPTIONS                                                                      \
    OPTION("--timeout", "S", VALUE_SECONDS, 0,                                                \
           "how long to wait for the response, 0 for ever; 60"),                              \
        JSON_OPTION("print the JSON-RPC response as it came")
#define KIND_OPTION                                                                           \
    OPTION("--kind", "PATTERN", VALUE_TEXT, 0,                                                \
           "only kinds that the pattern covers, as in a grant")
#define FROM_OPTION                                                                           \
    OPTION("--from", "ID", VALUE_PARTICIPANT, 0,                                              \
           "only what this participant and its instances sent")
#define TO_OPTION                                                                             \
    OPTION("--to", "ID", VALUE_PARTICIPANT, OPTION_REPEATED, "an addressee; else everyone")
#define METHOD_OPTION                                                                         \
    OPTION("--method", "METHOD", VALUE_TEXT, 0,                                               \
           "another method than tools/call. TOOL is then the name of its prompt, its URI or " \
           "its task; a method that names nothing takes JSON alone, as its params")
#define PREVIEW_OPTION SWITCH("--dry-run", "only say what would change")
#define LISTING_OPTIONS OPTIONS(COLOUR_OPTION, JSON_LINES_OPTION)
#define ONE_OBJECT_OPTIONS OPTIONS(JSON_OPTION("print one JSON object"))

static const struct command commands[] = {
    {"approve", "ID[@DIGEST]", 1, 1, false, "carry out a proposal, exactly as proposed",
     "Shows who proposes what, with all of its params, and asks. After a yes sends the "
     "request with the proposal's own params to whom it was proposed to, waits for the "
     "response and prints it. A proposal that is fulfilled, rejected or withdrawn already, or "
     "has expired, is left alone. ID may be the beginning of an id. The digest, as proposals "
     "lists it, makes sure that it is the proposal that was looked at: an id may be used "
     "again once its envelope is no longer retained. Exits 3 for a no.",
     OPTIONS(SWITCH("--yes", "do not ask; needed where standard input is no terminal. Needs "
                             "ID@DIGEST, as proposals lists it"),
             OPTION("--to", "ID", VALUE_PARTICIPANT, 0,
                    "who is to do it; needed when it was not proposed to exactly one"),
             RESPONSE_OPTIONS),
     connect_options, cmd_approve, "propose and decide"},
    {"audit", "verify|query|chain|export FOLDER...", 2, WORDS_MAX, false,
     "read the record of decisions that a router keeps",
     "verify says whether the lines of a folder are all there and as the router wrote them, "
     "and if not, names the first that is not: its file, line and number, and what was done "
     "to it. query prints lines, chain those of an envelope, of what it answers and of what "
     "answers it, and export lines as other programs want them. Reads files and asks nobody. "
     "Exits 0 when all is whole, 1 when something is damaged, 2 when the question cannot be "
     "asked: no key, or a folder that cannot be read, 4 when no line is about the envelope, "
     "or the line of --known is in an older file.",
     OPTIONS(
         OPTION("--key", "FILE", VALUE_FILE, OPTION_REPEATED,
                "verify: the public half of a key that checkpoints are signed with, in PEM; "
                "needed"),
         SWITCH("--ended",
                "verify: the router was ended and does not run, so the end has to be there"),
         OPTION("--known", "SEQ:SHA256", VALUE_TEXT, 0,
                "verify: a line that was noted elsewhere, so it has to be there"),
         OPTION("--id", "ID", VALUE_TEXT, 0, "chain: an envelope of the chain; needed"),
         OPTION("--format", "json|csv|cloudevents|ocsf", VALUE_CHOICE, 0,
                "export: what to print; json"),
         OPTION("--source", "URI", VALUE_TEXT, 0,
                "export: the source that CloudEvents name; /mcpx-router/audit"),
         OPTION("--what", "WHAT", VALUE_TEXT, OPTION_REPEATED,
                "only lines of this sort, such as allow or refuse"),
         OPTION("--topic", "TOPIC", VALUE_TEXT, 0, "only lines about this topic"), KIND_OPTION,
         FROM_OPTION,
         OPTION("--since", "TIME", VALUE_TEXT, 0, "only lines of this instant and later"),
         OPTION("--until", "TIME", VALUE_TEXT, 0, "only lines before this instant"),
         JSON_OPTION(
             "print lines as they are, and of verify one JSON object for each folder")),
     NULL, cmd_audit, "keep"},
    {"call", "[TOOL] [JSON]", 0, 2, false, "call a tool, read a resource, get a prompt",
     "Sends a request and prints the result: text as text, images and other data as type and "
     "size, all else as JSON. Progress goes to standard error. JSON holds the arguments; a "
     "single dash reads them from standard input. Exits 1 when the answer is an error, 124 "
     "when there is none in time, 4 when the addressee is not there. An interrupted or late "
     "call is cancelled. When the connection breaks it is made again; when the addressee "
     "leaves, the call ends with 1.",
     OPTIONS(OPTION("--to", "ID", VALUE_PARTICIPANT, OPTION_REQUIRED, "who is to answer"),
             METHOD_OPTION,
             OPTION("--meta", "JSON", VALUE_TEXT, 0, "the _meta of the params, an object"),
             OPTION("--request", "FILE", VALUE_FILE, 0,
                    "send what this document of the contract mcp.request.v0.1 asks for, in "
                    "place of TOOL and JSON; a single dash is standard input"),
             RESPONSE_OPTIONS),
     connect_options, cmd_call, "most used"},
    {"can", "KIND", 1, 1, false, "may a participant send a kind, and why?",
     "With --config decides offline, from the configuration alone, exactly as the router "
     "would now: may the participant enter the topic of --topic, without which any topic will "
     "do, and may it send the kind there? With --live or --url asks the running router about "
     "the token's own participant, or another, as things are in the topic now, with what was "
     "granted and revoked there. Exits 0 when the participant may, 3 when it may not.",
     OPTIONS(
         OPTION("--config", "FILE", VALUE_FILE, 0,
                "decide offline, from the router's configuration; --as names the participant"),
         OPTION("--profile", "NAME", VALUE_TEXT, 0,
                "offline: who has a JWT with this profile"),
         SWITCH("--live", "ask the running router, as --url does"),
         OPTION("--participant", "ID", VALUE_PARTICIPANT, 0,
                "ask the router about somebody else; needs a grant for admin/check"),
         OPTION("--to", "ID", VALUE_PARTICIPANT, OPTION_REPEATED,
                "an addressee; without it the envelope is for everyone"),
         JSON_OPTION("print one JSON object, as POST /v0.1/check answers")),
     connect_options, cmd_can, "administer"},
    {"chain", "ID", 1, 1, false, "what became of a proposal or request",
     "Shows the proposal, who fulfilled or rejected it, whether with the params proposed, and "
     "the response, with the time each took. ID is the id of any envelope of the chain, or "
     "the beginning of one.",
     LISTING_OPTIONS, connect_options, cmd_chain, "look"},
    {"context", "add|list|show|use|remove [NAME]", 1, 2, false,
     "keep where to connect, and as whom, under a name",
     "add keeps the connection options that are given under NAME, in "
     "$XDG_CONFIG_HOME/mcpx/contexts.json, or ~/.config/mcpx/contexts.json; the first one is "
     "used at once. use chooses the one that all verbs use from now on, show prints what a "
     "context holds, without NAME the one that counts, and remove forgets one. Of a token "
     "only the path of its file is kept. Exits 4 when there is no context of that name.",
     OPTIONS(JSON_OPTION("print one JSON object for each context")), connect_options,
     cmd_context, "prepare"},
    {"contract", "[CONTRACT]", 0, 1, false, "what documents have to be: the contracts",
     "Prints the names of the contracts, or one of them: a JSON Schema of dialect 2020-12 "
     "that is complete by itself. Exits 4 when there is no contract of that name.",
     OPTIONS(JSON_OPTION("print an object for each contract, with the code of a breach; its "
                         "schema on one line")),
     NULL, cmd_contract, "contracts and releases"},
    {"digest", "[FILE]", 0, 1, false, "the SHA-256 of a JSON document",
     "Prints the digest of the document's canonical form, by which equal values have equal "
     "bytes: no white space, members in the order of their names, strings and numbers written "
     "in one way, no digit of a number lost. --json prints that form too. FILE absent or a "
     "single dash is standard input. Exits 1, and says where, when the text is not JSON or "
     "could be read in two ways: a name that stands twice, half a surrogate pair, an exponent "
     "of more "
     "than nine digits.",
     ONE_OBJECT_OPTIONS, NULL, cmd_digest, "contracts and releases"},
    {"gate", "DIR", 1, 1, false, "may a server be released?",
     "Asks a server behind an edge, live, and compares its answers with the files in DIR. "
     "Items are the handshake, contexts that are taken or refused, aliases that do what their "
     "tools do, telemetry in which every call has its end, schemas that did not change, a "
     "bill of materials, and evidence of all that. Prints a line for each: pass, fail or "
     "skip. The tools of aliases are called, with the arguments in their fixtures. Exits 0 "
     "when nothing failed, else 1.",
     OPTIONS(
         OPTION("--to", "ID", VALUE_PARTICIPANT, OPTION_REQUIRED,
                "the server behind its edge"),
         OPTION("--only", "handshake|context|aliases|telemetry|drift|sbom|evidence",
                VALUE_CHOICE, OPTION_REPEATED, "an item to ask about; else all"),
         SWITCH("--release", "an item that is skipped counts as failed"),
         SWITCH(
             "--update",
             "write capabilities.json and schemas.json anew instead of comparing with them"),
         OPTION("--telemetry", "FILE", VALUE_FILE, 0, "the telemetry of the edge"),
         OPTION("--sbom", "FILE", VALUE_FILE, 0,
                "the bill of materials, of SPDX or CycloneDX, in JSON"),
         OPTION("--evidence", "DIR", VALUE_FILE, 0,
                "copy report, handshake, telemetry and bill to this folder, with a list of "
                "their SHA-256"),
         OPTION("--timeout", "S", VALUE_SECONDS, 0,
                "how long to wait for each response, 0 for ever; 60"),
         JSON_OPTION("print one JSON object for each item")),
     connect_options, cmd_gate, "contracts and releases"},
    {"grant", "PARTICIPANT PATTERN...", 2, WORDS_MAX, false,
     "let a participant send more, for a while",
     "Gives the participant the patterns in this topic, with all its instances, in force for "
     "its very next message, and prints what it may send then. What was revoked comes back "
     "when just that is granted, without --to and --until. Needs a grant for admin/grant, and "
     "whatever is given. Ends with the router; the configuration alone is for good.",
     OPTIONS(OPTION("--to", "ID", VALUE_PARTICIPANT, OPTION_REPEATED,
                    "the only addressees it is for; else everyone"),
             OPTION("--until", "TIME", VALUE_TEXT, 0,
                    "when it ends: a date like 2026-12-31T23:59:59Z, or how long from now, "
                    "like 3600, 90m, 1h or 2d; else as late as the router permits"),
             PREVIEW_OPTION, JSON_OPTION("print the answer of the router")),
     connect_options, cmd_grant, "administer"},
    {"history", NULL, 0, 0, false, "what was said",
     "Prints retained envelopes, oldest first. Does not join the topic.",
     OPTIONS(
         OPTION("--limit", "N", VALUE_NUMBER, 0, "at most so many, the newest; 50"),
         OPTION("--before", "ID", VALUE_ENVELOPE, 0, "only what is older than this envelope"),
         KIND_OPTION, FROM_OPTION, COLOUR_OPTION, JSON_LINES_OPTION),
     connect_options, cmd_history, "look"},
    {"jwks", "fetch", 1, 1, false, "fetch the public keys of an issuer",
     "Fetches a JSON Web Key Set, reads it as the router would, and replaces FILE by it, or "
     "changes nothing. The router reads the file again when it changes. Redirects are not "
     "followed, and no more than 256 KiB are taken. Prints how many keys there are, and how "
     "many are for something else. Exits 1 when the answer is no key set that the router "
     "takes, or FILE cannot be written, 2 for an address that is not allowed, 5 when the "
     "server cannot be reached or its certificate is not trusted, 124 when it does not "
     "answer.",
     OPTIONS(
         OPTION("--url", "URL", VALUE_TEXT, OPTION_REQUIRED,
                "where the issuer publishes it, https://..."),
         OPTION("--out", "FILE", VALUE_FILE, OPTION_REQUIRED,
                "what to replace, as auth.jwt.jwks_file names it"),
         OPTION("--ca-file", "FILE", VALUE_FILE, 0,
                "trust the certificates in this PEM file, not the system's"),
         OPTION("--timeout", "S", VALUE_SECONDS, 0, "how long it may take, 0 for ever; 30"),
         SWITCH("--insecure-http", "allow http:// to this machine")),
     NULL, cmd_jwks, "prepare"},
    {"kick", "PARTICIPANT", 1, 1, false, "remove a participant",
     "Ends the connections of the participant to this topic, those of all its instances. It "
     "may come back, as its token is as good as before, unless --for keeps it out. Needs a "
     "grant for admin/kick.",
     OPTIONS(
         OPTION(
             "--for", "S", VALUE_SECONDS, 0,
             "keep it out of the topic for so long, like 600, 10m or 1d; 0 lets it in again"),
         SWITCH("--everywhere", "in all topics that the token is good for"), PREVIEW_OPTION,
         JSON_OPTION("print the answer of the router")),
     connect_options, cmd_kick, "administer"},
    {"kind", "KIND", 1, 1, false, "split a kind into type, method and context",
     "Shows how the router reads a kind, or what is wrong with it and at which byte.",
     ONE_OBJECT_OPTIONS, NULL, cmd_kind, "prepare"},
    {"list", "[tools|resources|templates|prompts]", 0, 1, false,
     "tools, resources, templates or prompts of servers",
     "Asks each server in the topic, or those named with --to, for its tools or another list. "
     "Who does not answer is passed over, unless it was named.",
     OPTIONS(OPTION("--to", "ID", VALUE_PARTICIPANT, OPTION_REPEATED,
                    "a server to ask; else all that could answer"),
             OPTION("--tool", "NAME", VALUE_TOOL, 0,
                    "only the tool of that name, with its whole description and its schemas"),
             OPTION("--timeout", "S", VALUE_SECONDS, 0,
                    "how long to wait for answers, 0 for ever; 3"),
             JSON_LINES_OPTION),
     connect_options, cmd_list, "most used"},
    {"parity", "GOLDEN NEW", 2, 2, false, "do two logs of an edge say the same?",
     "Compares two logs line by line, such as those of the same calls over two transports, "
     "without what is different in every run: ts, traceId, spanId, requestId, durationMs, "
     "transport and route. The order of lines counts, that of members does not. Says which "
     "member differs in which line. Exits 0 when the logs are equal, 1 when they are not, 2 "
     "when a file, or a line in it, cannot be read.",
     ONE_OBJECT_OPTIONS, NULL, cmd_parity, "contracts and releases"},
    {"policy", "show|diff [OLD] [NEW]", 1, 3, false, "who may do what, and what would change?",
     "show prints what the running router permits whom: its profiles and participants with "
     "their topics, grants and denials, and what was changed at run time, until when and by "
     "whom. It needs a grant for admin/read. diff prints who gains and loses what when the "
     "configuration in NEW takes the place of that in OLD, and which settings are different. "
     "With --audit it makes every recorded decision about a message again, under OLD and "
     "under NEW, at the instant it was made; with --history it decides about the messages of "
     "the topic that the running router retains, as if they were sent now. It prints those "
     "that would be different: allowed by one and refused by the other, because of a grant, a "
     "denial or a topic. Who is in neither configuration, such as the bearer of a signed "
     "token, is not judged. Exits 0 when it is shown or nothing is different, 1 when "
     "something is, 2 when a configuration, the audit or the history cannot be read, 124 when "
     "the history is not read in time.",
     OPTIONS(
         OPTION("--audit", "FOLDER", VALUE_FILE, OPTION_REPEATED,
                "diff: compare the decisions that are recorded there, not the configurations"),
         SWITCH("--history", "diff: compare what the messages that the router retains of the "
                             "topic would meet"),
         OPTION("--timeout", "S", VALUE_SECONDS, 0,
                "diff --history: how long it may take to read the history, 0 for ever; 300"),
         JSON_OPTION("print one JSON object, or of diff --audit and diff --history one for "
                     "each difference, then one with sums")),
     connect_options, cmd_policy, "administer"},
    {"proposals", NULL, 0, 0, false, "proposals that wait for a decision",
     "Prints the retained proposals that nobody has fulfilled, rejected or withdrawn and that "
     "have not expired, each as ID@DIGEST: the digest is the beginning of its envelope's "
     "SHA-256 and tells it from any other under that id. With --json an object per line with "
     "id, digest and the envelope as it came. Does not join the topic.",
     LISTING_OPTIONS, connect_options, cmd_proposals, "look"},
    {"propose", "[TOOL] [JSON]", 0, 2, false, "propose what somebody else is to call",
     "Takes the operands of call, sends them as a proposal and prints its id.",
     OPTIONS(TO_OPTION, METHOD_OPTION, DELIVERY_OPTIONS), connect_options, cmd_propose,
     "propose and decide"},
    {"reject", "ID[@DIGEST]", 1, 1, false, "say no to a proposal",
     "Tells the proposer and whom it was proposed to. ID may be the beginning of an id.",
     OPTIONS(OPTION("--reason", "TEXT", VALUE_TEXT, 0, "why, for the proposer to read"),
             DELIVERY_OPTIONS),
     connect_options, cmd_reject, "propose and decide"},
    {"reload", NULL, 0, 0, false, "have the router read its configuration again",
     "Prints who gains and loses what. All of the configuration comes into force, or nothing: "
     "a fault, or a setting that takes a restart, is named and changes nothing. The token "
     "needs a grant for admin/reload. Exits 0 when the configuration is in force, 2 when it "
     "has a fault, 3 without the grant, 5 when the router cannot be reached or refuses the "
     "token.",
     ONE_OBJECT_OPTIONS, connect_options, cmd_reload, "administer"},
    {"revoke", "PARTICIPANT PATTERN...", 2, WORDS_MAX, false,
     "take from a participant what it may send",
     "Takes the patterns away from the participant in this topic, whoever has given them, in "
     "force for its very next message, and prints what it may send then. Needs a grant for "
     "admin/grant.",
     OPTIONS(OPTION("--until", "TIME", VALUE_TEXT, 0,
                    "when it may be sent again: a date, or how long from now, like 3600 or "
                    "1h; else not while the router runs"),
             PREVIEW_OPTION, JSON_OPTION("print the answer of the router")),
     connect_options, cmd_revoke, "administer"},
    {"say", "TEXT", 1, 1, false, "send a chat message",
     "Sends TEXT and prints the envelope's id once it has its place in the topic.",
     OPTIONS(TO_OPTION, DELIVERY_OPTIONS), connect_options, cmd_say, "most used"},
    {"status", NULL, 0, 0, false, "is the router well, who is there, who lags",
     "Prints health, connections and lag, which anybody may ask, and with a topic and a token "
     "the topics that the token is good for and who is connected to the topic. Without a "
     "token all else is shown. Exits 0 for a router that is healthy and ready, 1 for one that "
     "takes no connections or answers something else, 5 for one that cannot be reached or "
     "does not take the token, 124 for one that does not answer.",
     ONE_OBJECT_OPTIONS, connect_options, cmd_status, "look"},
    {"store", "backup|check|export|compact|erase|restore FILE [WORD]", 2, 3, false,
     "look after the database that a router stores messages in",
     "backup copies FILE to WORD, where nothing may be, while the router goes on. check reads "
     "all of it and names what is not as it was written, by topic and serial. export prints "
     "the messages, one JSON object per line, of all topics or of that of --topic. compact "
     "gives back to the disk what the file does not need. erase removes the topic WORD with "
     "all its messages. restore puts the backup WORD in the place of FILE, which is kept as "
     "FILE.old. The last three want the router stopped. Exits 0 when it is done, 1 when "
     "something is damaged, or the disk or a running router is in the way, 2 when FILE is not "
     "there or no database of a router, 4 when there is no such topic.",
     OPTIONS(OPTION("--topic", "TOPIC", VALUE_TEXT, 0, "export: only messages of this topic"),
             JSON_OPTION("print JSON objects; export always does")),
     NULL, cmd_store, "keep"},
    {"token", NULL, 0, 0, false, "make a participant's token",
     "Prints a new random token of 256 bits, which is kept nowhere, and the \"token_sha256\" "
     "that goes into the configuration. A token is never an argument: others can read those.",
     OPTIONS(OPTION("--sha256", NULL, VALUE_NONE, 0,
                    "read a token from standard input and print only its SHA-256"),
             JSON_OPTION("print one JSON object")),
     NULL, cmd_token, "prepare"},
    {"validate", "CONTRACT [FILE]", 1, 2, false, "does a document keep a contract?",
     "Judges the document in FILE, or on standard input, by the contract of that name, or, "
     "for the word schema, by a schema from a file: dialect 2020-12 or draft-07. Says where "
     "the document is wrong and what is expected there, ten places at most. Nothing that a "
     "schema refers to is fetched; --known names files for it. Exits 0 when all documents are "
     "valid, 1 when one is not, 2 when the question cannot be asked: an unknown contract, a "
     "file that cannot be read, a schema that cannot be used.",
     OPTIONS(
         SWITCH("--lines", "each line is a document, as in a log"),
         OPTION(
             "--schema", "FILE[#POINTER]", VALUE_FILE, 0,
             "the schema, or with a JSON Pointer a part of the file: tool.json#/inputSchema"),
         OPTION("--known", "URI=PATH", VALUE_TEXT, OPTION_REPEATED,
                "a document that the schema may refer to; a folder of them where URI ends "
                "with /"),
         OPTION("--dialect", "2020-12|draft-07", VALUE_CHOICE, 0,
                "what a schema without $schema is written in; 2020-12"),
         OPTION(
             "--direction", "request|response", VALUE_CHOICE, 0,
             "which code a breach of a schema is: INVALID_INPUT or INVALID_OUTPUT; request"),
         JSON_OPTION("print one JSON object for each document"),
         SWITCH("--quiet", "print nothing: the exit code is the answer")),
     NULL, cmd_validate, "contracts and releases"},
    {"watch", NULL, 0, 0, false, "see what is said, as it is said",
     "Joins the topic and prints a line per envelope: time, beginning of its id, sender, "
     "addressees, kind, and what its payload comes down to. What receivers ignore, because "
     "its kind lies about its payload or it answers what it was not asked, is shown with a "
     "warning. Requests addressed to us are declined. Waits for a router that is not there, "
     "says so every ten seconds, and with --wait exits 5 when none came in time.",
     OPTIONS(KIND_OPTION, FROM_OPTION,
             OPTION("--history", "N", VALUE_NUMBER, 0,
                    "begin with so many retained envelopes that pass, dimmed; 0"),
             OPTION("--count", "N", VALUE_NUMBER, 0,
                    "end after so many envelopes; without it, when interrupted"),
             OPTION("--wait", "S", VALUE_SECONDS, 0,
                    "give up when there was no connection for so long, 0 never; 0"),
             COLOUR_OPTION, JSON_LINES_OPTION),
     connect_options, cmd_watch, "most used"},
    {"who", NULL, 0, 0, false, "who is connected, and what each may say",
     "Prints the participants and their capabilities. Does not join the topic.",
     LISTING_OPTIONS, connect_options, cmd_who, "most used"},
    {"withdraw", "ID[@DIGEST]", 1, 1, false, "take a proposal of one's own back",
     "Tells whom it was proposed to that it is no longer wanted. Only its proposer may; "
     "others reject. ID may be the beginning of an id.",
     OPTIONS(OPTION("--reason", "TEXT", VALUE_TEXT, 0, "why, for others to read"),
             DELIVERY_OPTIONS),
     connect_options, cmd_withdraw, "propose and decide"},
    {"wrap", "CONTRACT [FILE]", 1, 2, false, "put a result into an envelope",
     "Prints what a program has returned in an mcp.envelope.v0.1 or a response.v1, as a "
     "bridge does with what a server returns. The bytes of a value stay as they are, and an "
     "envelope that comes ready passes. FILE absent or a single dash is standard input. When "
     "the program has failed, nothing need have come. Exits 2 when the text is not JSON, or "
     "nothing without a failure.",
     OPTIONS(SWITCH("--text",
                    "the input is text, less one newline at its end; else it is a JSON value"),
             OPTION("--exit-code", "N", VALUE_NUMBER, 0,
                    "how the program ended; other than 0 it failed; 0"),
             OPTION("--tool", "NAME", VALUE_TEXT, 0, "the tool, for response.v1"),
             OPTION("--tool-version", "V", VALUE_TEXT, 0, "its version, SemVer 2.0.0; 0.0.0"),
             OPTION("--tier", "community|pro|enterprise", VALUE_CHOICE, 0,
                    "level of service; community"),
             OPTION("--request-id", "ID", VALUE_TEXT, 0,
                    "the request that is answered, for response.v1"),
             OPTION("--duration-ms", "N", VALUE_NUMBER, 0,
                    "how long it took, in milliseconds; 0")),
     NULL, cmd_wrap, "contracts and releases"},
    COMPLETION_ROW,
    HELP_ROW,
    {.name = NULL},
};

static const char *const groups[] = {
    "most used",  "look",  "propose and decide",
    "administer", "keep",  "contracts and releases",
    "prepare",    "shell", NULL,
};

static const struct note_row examples[] = {
    {"Ask before an agent does:",
     "$ mcpxctl can --config router.json --as fs mcp/request:tools/call:rm\n"
     "refused: fs may not send mcp/request:tools/call:rm to everyone\n"
     "  reason       no grant covers this kind\n"
     "  nearest      mcp/request:tools/call:read_*\n"
     "  would allow  mcp/request:tools/call:rm\n"
     "  alternative  mcp/proposal:tools/call:rm\n"},
    {"Are two documents the same but for how they are written?",
     "$ echo '{\"b\": 1.0, \"a\": [ ]}' | mcpxctl digest\n"
     "1c8f8816506a8ccbc55140d8a7bb70214a8942c7030fc0fc2914cec675cd1c15\n"},
    {"Hash a token that exists already:", "$ mcpxctl token --sha256 < token.txt\n"},
    {NULL, NULL},
};

static const struct operand_row operands[] = {
    {"ID", VALUE_ENVELOPE},  {"ID[@DIGEST]", VALUE_PROPOSAL},
    {"NAME", VALUE_CONTEXT}, {"CONTRACT", VALUE_CONTRACT},
    {"FILE", VALUE_FILE},    {"VERB", VALUE_VERB},
    {"GOLDEN", VALUE_FILE},  {"NEW", VALUE_FILE},
    {"OLD", VALUE_FILE},     {"FOLDER...", VALUE_FILE},
    {"WORD", VALUE_FILE},    {"PARTICIPANT", VALUE_PARTICIPANT},
    {"TOOL", VALUE_TOOL},    {NULL, VALUE_NONE},
};

static const char about[] =
    "Options and operands may come in any order; -- ends the options. Verbs that only read "
    "use the HTTP API; watch, say, call, list, propose, approve, reject and withdraw join the "
    "topic for as long as they run, each as an instance with an id of its own (ann, ann~2) "
    "beside the other programs of the same participant. So one id is enough for several "
    "terminals.\n"
    "\n"
    "What participants wrote is shown with control characters, invisible characters and those "
    "that change the direction of text escaped as in JSON. Into a file or pipe JSON and the "
    "text of a result go as they are.";

int main(int argc, char **argv)
{
    static const struct program mcpxctl = {
        .name = "mcpxctl",
        .summary = "look into an MCPx topic and take part in it",
        .about = about,
        .date = "November 22, 2026",
        .commands = commands,
        .groups = groups,
        .examples = examples,
        .see_also = "mcpx-router 8",
        .operands = operands,
        .offer = offer_live,
    };

    return program_run(&mcpxctl, argc, argv);
}
