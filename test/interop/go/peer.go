// peer.go: a Go service on a lock library that is told what to do, one line at
// a time, and answers each with one line (the words are in ../README.md).  One
// rule: what the library says decides; nothing is asked of the server behind
// its back, except the counter in `mix`.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

const retryDelay = 5 * time.Millisecond

// A library: lock() waits for ever; try() gives nil if the lock is taken.
type library interface {
	lock(name string, lease time.Duration) (hold, error)
	try(name string, lease time.Duration) (hold, error)
}

// What a library has given: both are false if it is not the owner any more.
type hold interface {
	unlock() (bool, error)
	extend(lease time.Duration) (bool, error)
}

type peer struct {
	client  *redis.Client
	library library
	holds   map[string]hold
}

// One try after the other: a context that ends while an answer is on its way
// would leave the lock behind.
func (p *peer) acquire(name string, wait, lease time.Duration) (bool, error) {
	end := time.Now().Add(wait)
	h, err := p.library.try(name, lease)
	for h == nil && err == nil && time.Now().Before(end) {
		time.Sleep(retryDelay)
		h, err = p.library.try(name, lease)
	}
	if h == nil || err != nil {
		return false, err
	}
	p.holds[name] = h
	return true, nil
}

func (p *peer) lock(name string, lease time.Duration) error {
	h, err := p.library.lock(name, lease)
	if err == nil {
		p.holds[name] = h
	}
	return err
}

func outcome(ok bool, err error) (string, error) {
	if ok {
		return "ok", nil
	}
	return "not owner", err
}

func (p *peer) unlock(name string) (string, error) {
	h, found := p.holds[name]
	if !found {
		return "not owner", nil
	}
	delete(p.holds, name)
	return outcome(h.unlock())
}

func (p *peer) extend(name string, lease time.Duration) (string, error) {
	h, found := p.holds[name]
	if !found {
		return "not owner", nil
	}
	return outcome(h.extend(lease))
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
		return p.mix(name, number(words, 2), number(words, 3),
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

// The name by which the program was started says which library it is.
func libraryOf(program string, client *redis.Client) library {
	if filepath.Base(program) == "redislock" {
		return newRedislock(client)
	}
	return newRedsync(client)
}

func newPeer(client *redis.Client) *peer {
	return &peer{client, libraryOf(os.Args[0], client), map[string]hold{}}
}

// Ends without a word to the server when its input does: a test that wants the
// locks given back says so.
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
