// redsync.go: go-redsync, on one server.
package main

import (
	"errors"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
)

const manyTries = 1 << 30 // for ever

type redsyncLibrary struct {
	sync *redsync.Redsync
}

type redsyncHold struct {
	library *redsyncLibrary
	mutex   *redsync.Mutex
}

func newRedsync(client *redis.Client) library {
	return &redsyncLibrary{redsync.New(goredis.NewPool(client))}
}

// On a busy machine an answer may take longer than the usual twentieth of a
// short lease.
func (l *redsyncLibrary) mutex(name string, lease time.Duration,
	more ...redsync.Option) *redsync.Mutex {
	options := []redsync.Option{
		redsync.WithExpiry(lease),
		redsync.WithTries(manyTries),
		redsync.WithRetryDelay(retryDelay),
		redsync.WithTimeoutFactor(0.5),
	}
	return l.sync.NewMutex(name, append(options, more...)...)
}

func isTaken(err error) bool {
	var taken *redsync.ErrTaken
	return errors.As(err, &taken) || errors.Is(err, redsync.ErrFailed)
}

func (l *redsyncLibrary) lock(name string, lease time.Duration) (hold, error) {
	m := l.mutex(name, lease)
	if err := m.Lock(); err != nil {
		return nil, err
	}
	return &redsyncHold{l, m}, nil
}

func (l *redsyncLibrary) try(name string, lease time.Duration) (hold, error) {
	m := l.mutex(name, lease)
	err := m.TryLock()
	if isTaken(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &redsyncHold{l, m}, nil
}

func unlessLost(ok bool, err error) (bool, error) {
	if isTaken(err) || errors.Is(err, redsync.ErrLockAlreadyExpired) ||
		errors.Is(err, redsync.ErrExtendFailed) {
		return false, nil
	}
	return ok, err
}

func (h *redsyncHold) unlock() (bool, error) {
	return unlessLost(h.mutex.Unlock())
}

// A mutex has one lease: another one needs another mutex of the same value.
func (h *redsyncHold) extend(lease time.Duration) (bool, error) {
	m := h.library.mutex(h.mutex.Name(), lease,
		redsync.WithValue(h.mutex.Value()))
	ok, err := m.Extend()
	if ok {
		h.mutex = m
	}
	return unlessLost(ok, err)
}
