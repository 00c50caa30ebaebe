/* object.c: see object.h. */
#include "api/client/object.h"

static void list_add(struct object **list, struct object *o)
{
    o->at = list;
    o->next = *list;
    if (o->next) o->next->at = &o->next;
    *list = o;
}

void hf__object_link(hf_client *c, struct object *o)
{
    list_add(&c->objects, o);
}

void hf__object_unlink(struct object *o)
{
    *o->at = o->next;
    if (o->next) o->next->at = o->at;
}

void hf__object_add(hf_client *c, struct object *o)
{
    hf__pump_lock(&c->pump);
    hf__object_link(c, o);
    hf__pump_unlock(&c->pump);
}

void hf__deep_object_add(hf_client *c, struct deep_object *o,
                         object_free_fn free)
{
    o->free = free;
    hf__pump_lock(&c->pump);
    list_add(&c->deep_objects, &o->object);
    hf__pump_unlock(&c->pump);
}

void hf__object_remove(hf_client *c, struct object *o)
{
    hf__pump_lock(&c->pump);
    hf__object_unlink(o);
    hf__pump_unlock(&c->pump);
}

void hf__objects_free(hf_client *c)
{
    while (c->objects) {
        struct object *o = c->objects;
        c->objects = o->next;
        hf__free(&c->alloc, o);
    }
    while (c->deep_objects) {
        struct object *o = c->deep_objects;
        c->deep_objects = o->next;
        ((struct deep_object *)o)->free(c, o);
    }
}
