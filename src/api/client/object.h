/*
 * object.h: what a program has opened from a client: locks, semaphores, sets,
 * elections, runs, cancel tokens.  Closing the client frees those still open.
 *
 * The rule: an object frees only itself.  What it opened for its own use, such
 * as its locks, is in the client's list as well.
 */
#ifndef HF_API_OBJECT_H
#define HF_API_OBJECT_H

#include "api/client/client.h"

/* Add an object to the client that it is opened from, and remove it.  The
 * object begins with `o`, and has no other memory. */
void hf__object_add(hf_client *c, struct object *o);
/* The same for one that has: `free` is called when the client is closed, after
 * its engine. */
void hf__deep_object_add(hf_client *c, struct deep_object *o,
                         object_free_fn free);
void hf__object_remove(hf_client *c, struct object *o);

/* The same, with the pump's lock held. */
void hf__object_link(hf_client *c, struct object *o);
void hf__object_unlink(struct object *o);

/* The client is closed, and no call or callback runs: free what is left. */
void hf__objects_free(hf_client *c);

#endif
