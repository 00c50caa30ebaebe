#ifndef HOLDFAST_H
#define HOLDFAST_H 
#include "status.h"
#include "version.h"
#include "client.h"
#include "hold.h"
#include "lock.h"
#include "barrier.h"
#include "election.h"
#include "guard.h"
#include "latch.h"
#include "multi.h"
#include "once.h"
#include "probe.h"
#include "quorum.h"
#include "semaphore.h"
#include "value.h"
#endif
