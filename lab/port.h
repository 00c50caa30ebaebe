/*
 * port.h: TCP ports for servers.  One rule: a port is reserved before it is
 * used and stays reserved while its server is down, so that no other program of
 * the lab on this machine, whichever checkout it runs from, can take it.
 */
#ifndef LAB_PORT_H
#define LAB_PORT_H

#define LAB_PORT_BUS 10000

/* Reserve `*port` with the two that a server may need besides: the next one
 * (TLS) and the one LAB_PORT_BUS above (the bus of a Redis Cluster).  Nothing
 * listens on any of them.  Returns a descriptor: the reservation ends when it
 * is closed, at the latest with the process and its children.  Fails if no port
 * is free. */
int lab_port_reserve(int *port);

/* Take the reservation of this very port, whether or not something listens
 * there.  Returns a descriptor as above; fails if the port is reserved. */
int lab_port_take(int port);

/* The same as lab_port_reserve(), of a port of 127.0.0.1 on which nothing can
 * listen until the process ends: a connection to it is refused. */
int lab_port_dead(int *port);

#endif
