/*
 * port.h: TCP ports for the servers of a test.  One rule: a port is reserved
 * before it is used and stays reserved while its server is down, so that no
 * other test of this machine, whichever checkout it runs from, can take it.
 */
#ifndef HF_TEST_PORT_H
#define HF_TEST_PORT_H

/* Reserve `*port` with the two that a server may need besides: the next one
 * (TLS) and the one PORT_BUS above (the bus of a Redis Cluster).  Nothing
 * listens on any of them.  Returns a descriptor: the reservation ends when it
 * is closed, at the latest with the process and its children.  Returns -1 if
 * no port is free. */
int port_reserve(int *port);

/* Take the reservation of this very port, whether or not something listens
 * there.  Returns a descriptor as above, or -1 if the port is reserved. */
int port_take(int port);

#define PORT_BUS 10000

#endif
