/*
 * list.h - circular, doubly linked, intrusive. A head is a link without an element; a link outside
 * any list points at itself.
 */
#ifndef HUB_LIST_H
#define HUB_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct link {
    struct link *previous, *next;
};

/** The element of `type` whose member `member` is this link. */
#define LIST_ELEMENT(link, type, member) ((type *)((char *)(link)-offsetof(type, member)))

/** The first element of a list; NULL when the list is empty. */
#define LIST_FIRST(head, type, member)                                                        \
    ((head)->next == (head) ? NULL : LIST_ELEMENT((head)->next, type, member))

/** A loop over the links of a list; the loop body may remove the current link. */
#define LIST_EACH(at, head)                                                                   \
    for (struct link * (at) = (head)->next, *at##_next = (at)->next; (at) != (head);          \
         (at) = at##_next, at##_next = (at)->next)

/** Makes an empty head, or a link that is in no list. */
static inline void list_init(struct link *link)
{
    link->previous = link->next = link;
}

/** True for an empty head, and for a link that is in no list. */
static inline bool list_is_empty(const struct link *link)
{
    return link->next == link;
}

/** Takes a link out of its list; harmless when it is in none. */
static inline void list_remove(struct link *link)
{
    link->previous->next = link->next;
    link->next->previous = link->previous;
    list_init(link);
}

/** Appends a link that is in no list. */
static inline void list_append(struct link *head, struct link *link)
{
    link->previous = head->previous;
    link->next = head;
    head->previous->next = link;
    head->previous = link;
}

/** Moves all of `from` to the end of `to`, in constant time. */
static inline void list_splice(struct link *to, struct link *from)
{
    if (list_is_empty(from))
        return;
    from->next->previous = to->previous;
    to->previous->next = from->next;
    from->previous->next = to;
    to->previous = from->previous;
    list_init(from);
}

#endif
