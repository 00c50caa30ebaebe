/* object.c: see object.h. */
#include "api/client/object.h"

void hf__object_link(hf_client *c, struct object *o, object_free_fn free)
{
    o->free = free;
    o->prev = NULL;
    o->next = c->objects;
    if (o->next) o->next->prev = o;
    c->objects = o;
}

void hf__object_unlink(hf_client *c, struct object *o)
{
    if (o->prev)
        o->prev->next = o->next;
    else
        c->objects = o->next;
    if (o->next) o->next->prev = o->prev;
}

void hf__object_add(hf_client *c, struct object *o, object_free_fn free)
{
    hf__pump_lock(&c->pump);
    hf__object_link(c, o, free);
    hf__pump_unlock(&c->pump);
}

void hf__object_remove(hf_client *c, struct object *o)
{
    hf__pump_lock(&c->pump);
    hf__object_unlink(c, o);
    hf__pump_unlock(&c->pump);
}

void hf__objects_free(hf_client *c)
{
    while (c->objects) {
        struct object *o = c->objects;
        c->objects = o->next;
        if (o->free)
            o->free(c, o);
        else
            hf__free(&c->alloc, o);
    }
}
