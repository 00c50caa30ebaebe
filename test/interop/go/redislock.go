// redislock.go: bsm/redislock, whose waiter tries again and again.
package main

import (
	"context"
	"errors"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"
)

// Without a deadline of its own, Obtain would wait for one lease at most.
const longWait = 24 * time.Hour

type redislockLibrary struct {
	client *redislock.Client
}

type redislockHold struct {
	lock *redislock.Lock
}

func newRedislock(client *redis.Client) library {
	return &redislockLibrary{redislock.New(client)}
}

func (l *redislockLibrary) obtain(name string, lease time.Duration,
	retry redislock.RetryStrategy) (hold, error) {
	ctx, cancel := context.WithTimeout(context.Background(), longWait)
	defer cancel()
	lock, err := l.client.Obtain(ctx, name, lease,
		&redislock.Options{RetryStrategy: retry})
	if err != nil {
		return nil, err
	}
	return &redislockHold{lock}, nil
}

func (l *redislockLibrary) lock(name string,
	lease time.Duration) (hold, error) {
	return l.obtain(name, lease, redislock.LinearBackoff(retryDelay))
}

func (l *redislockLibrary) try(name string, lease time.Duration) (hold, error) {
	h, err := l.obtain(name, lease, redislock.NoRetry())
	if errors.Is(err, redislock.ErrNotObtained) {
		return nil, nil
	}
	return h, err
}

func isOwner(err error) (bool, error) {
	if errors.Is(err, redislock.ErrLockNotHeld) ||
		errors.Is(err, redislock.ErrNotObtained) {
		return false, nil
	}
	return err == nil, err
}

func (h *redislockHold) unlock() (bool, error) {
	return isOwner(h.lock.Release(context.Background()))
}

func (h *redislockHold) extend(lease time.Duration) (bool, error) {
	return isOwner(h.lock.Refresh(context.Background(), lease, nil))
}
