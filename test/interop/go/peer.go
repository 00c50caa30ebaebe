// peer.go: a Go service on redsync that is told what to do, one line at a
// time, and answers each with one line (the words are in ../README.md).  One
// rule: what redsync says decides; nothing is asked of the server behind its
// back, except the counter in `mix`.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
)

const (
	retryDelay = 5 * time.Millisecond
	manyTries  = 1 << 30 // for ever
)

type peer struct {
	client *redis.Client
	sync   *redsync.Redsync
	locks  map[string]*redsync.Mutex
}

// On a busy machine an answer may take longer than the usual twentieth of a
// short lease.
func (p *peer) mutex(name string, lease time.Duration,
	more ...redsync.Option) *redsync.Mutex {
	options := []redsync.Option{
		redsync.WithExpiry(lease),
		redsync.WithTries(manyTries),
		redsync.WithRetryDelay(retryDelay),
		redsync.WithTimeoutFactor(0.5),
	}
	return p.sync.NewMutex(name, append(options, more...)...)
}

func isTaken(err error) bool {
	var taken *redsync.ErrTaken
	return errors.As(err, &taken) || errors.Is(err, redsync.ErrFailed)
}

// One try after the other: a context that ends while an answer is on its way
// would leave the lock behind.
func (p *peer) acquire(name string, wait, lease time.Duration) (bool, error) {
	m := p.mutex(name, lease)
	end := time.Now().Add(wait)
	err := m.TryLock()
	for isTaken(err) && time.Now().Before(end) {
		time.Sleep(retryDelay)
		err = m.TryLock()
	}
	if isTaken(err) {
		return false, nil
	}
	if err == nil {
		p.locks[name] = m
	}
	return err == nil, err
}

func (p *peer) lock(name string, lease time.Duration) error {
	m := p.mutex(name, lease)
	err := m.Lock()
	if err == nil {
		p.locks[name] = m
	}
	return err
}

func isLost(err error) bool {
	return isTaken(err) || errors.Is(err, redsync.ErrLockAlreadyExpired) ||
		errors.Is(err, redsync.ErrExtendFailed)
}

func outcome(ok bool, err error) (string, error) {
	if ok {
		return "ok", nil
	}
	if err == nil || isLost(err) {
		return "not owner", nil
	}
	return "", err
}

func (p *peer) unlock(name string) (string, error) {
	m, found := p.locks[name]
	if !found {
		return "not owner", nil
	}
	delete(p.locks, name)
	ok, err := m.Unlock()
	return outcome(ok, err)
}

// A mutex has one lease: another one needs another mutex of the same value.
func (p *peer) extend(name string, lease time.Duration) (string, error) {
	old, found := p.locks[name]
	if !found {
		return "not owner", nil
	}
	m := p.mutex(name, lease, redsync.WithValue(old.Value()))
	ok, err := m.Extend()
	if ok {
		p.locks[name] = m
	}
	return outcome(ok, err)
}

func number(words []string, at int) int {
	if at >= len(words) {
		return 0
	}
	n, _ := strconv.Atoi(words[at])
	return n
}

func milliseconds(words []string, at int) time.Duration {
	return time.Duration(number(words, at)) * time.Millisecond
}

func (p *peer) answer(words []string) (string, error) {
	name := words[1]
	switch words[0] {
	case "lock":
		err := p.lock(name, milliseconds(words, 2))
		return "ok", err
	case "try":
		ok, err := p.acquire(name, milliseconds(words, 2),
			milliseconds(words, 3))
		return strconv.FormatBool(ok), err
	case "unlock":
		return p.unlock(name)
	case "extend":
		return p.extend(name, milliseconds(words, 2))
	case "mix":
		return mix(p.client, name, number(words, 2), number(words, 3),
			number(words, 4)), nil
	}
	return "", fmt.Errorf("no such command: %s", words[0])
}

func (p *peer) answerSafely(line string) string {
	words := strings.Fields(line)
	if len(words) < 2 {
		return "error: no name"
	}
	text, err := p.answer(words)
	if err != nil {
		return "error: " + strings.ReplaceAll(err.Error(), "\n", " ")
	}
	return text
}

func newPeer(client *redis.Client) *peer {
	return &peer{client, redsync.New(goredis.NewPool(client)),
		map[string]*redsync.Mutex{}}
}

// Ends without a word to the server when its input does: who wants the locks
// given back says so.
func main() {
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + os.Args[1]})
	if err := client.Ping(context.Background()).Err(); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	p := newPeer(client)
	fmt.Println("ready")
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		fmt.Println(p.answerSafely(in.Text()))
	}
}
