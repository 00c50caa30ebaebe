// mix.go: random locking against everybody else on one name.  One rule: the
// counter is read and written in two steps, so that only the lock can keep it
// right.
package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"runtime"
	"time"

	"github.com/redis/go-redis/v9"
)

const mixLease = 60 * time.Second

type mixer struct {
	*peer
	name   string
	random *rand.Rand
}

func (m *mixer) count() error {
	ctx := context.Background()
	n, err := m.client.Get(ctx, "counter").Int64()
	if err != nil && !errors.Is(err, redis.Nil) {
		return err
	}
	if m.random.Intn(4) == 0 {
		runtime.Gosched()
	}
	return m.client.Set(ctx, "counter", n+1, 0).Err()
}

// For ever, for a while, or not at all: in the end it is ours.
func (m *mixer) acquireSomehow() error {
	if m.random.Intn(2) == 0 {
		return m.lock(m.name, mixLease)
	}
	for {
		wait := time.Duration(m.random.Intn(50)) * time.Millisecond
		ok, err := m.acquire(m.name, wait, mixLease)
		if ok || err != nil {
			return err
		}
		time.Sleep(retryDelay)
	}
}

func (m *mixer) expectOk(text string, err error) error {
	if err == nil && text != "ok" {
		err = errors.New(text)
	}
	return err
}

func (m *mixer) round() error {
	if err := m.acquireSomehow(); err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	err := m.count()
	if err == nil && m.random.Intn(5) == 0 {
		err = m.expectOk(m.extend(m.name, mixLease))
	}
	// A failure must not make the others wait for ever.
	if e := m.expectOk(m.unlock(m.name)); err == nil {
		err = e
	}
	return err
}

func (m *mixer) work(rounds int) (err error) {
	for i := 0; i < rounds && err == nil; i++ {
		err = m.round()
	}
	return err
}

func (p *peer) mix(name string, workers, rounds, seed int) string {
	ends := make(chan error, workers)
	for i := 0; i < workers; i++ {
		m := &mixer{newPeer(p.client), name,
			rand.New(rand.NewSource(int64(seed + i)))}
		go func() { ends <- m.work(rounds) }()
	}
	text := "exact"
	for i := 0; i < workers; i++ {
		if err := <-ends; err != nil {
			text = "error: " + err.Error()
		}
	}
	return text
}
