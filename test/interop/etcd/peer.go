// peer.go: a Go service on etcd's own library that is told what to do, one line
// at a time, and answers each with one line (the words are in ../README.md).
// One rule: a hold has a session, and so a lease, of its own, as two programs
// have.
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

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"go.uber.org/zap"
)

// Where our side keeps its locks unless its URL says otherwise.
const prefix = "holdfast/"

type hold struct {
	session *concurrency.Session
	mutex   *concurrency.Mutex
}

type peer struct {
	client *clientv3.Client
	holds  map[string]*hold
	terms  map[string]*term
}

func newHold(client *clientv3.Client, name string,
	lease time.Duration) (*hold, error) {
	session, err := concurrency.NewSession(client,
		concurrency.WithTTL(int(lease/time.Second)))
	if err != nil {
		return nil, err
	}
	return &hold{session, concurrency.NewMutex(session, prefix+name)}, nil
}

// False if it is taken all the while; without a wait, one look.
func (h *hold) acquire(wait time.Duration) (bool, error) {
	if wait == 0 {
		err := h.mutex.TryLock(context.Background())
		if errors.Is(err, concurrency.ErrLocked) {
			return false, nil
		}
		return err == nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	err := h.mutex.Lock(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return false, nil
	}
	return err == nil, err
}

func (h *hold) release() error {
	err := h.mutex.Unlock(context.Background())
	if e := h.session.Close(); err == nil {
		err = e
	}
	return err
}

func (p *peer) try(name string, wait, lease time.Duration) (bool, error) {
	h, err := newHold(p.client, name, lease)
	if err != nil {
		return false, err
	}
	ok, err := h.acquire(wait)
	if ok {
		p.holds[name] = h
	} else {
		h.session.Close()
	}
	return ok, err
}

func (p *peer) unlock(name string) (string, error) {
	h, found := p.holds[name]
	if !found {
		return "not owner", nil
	}
	delete(p.holds, name)
	return "ok", h.release()
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

const longWait = 24 * time.Hour

func (p *peer) answer(words []string) (string, error) {
	name := words[1]
	switch words[0] {
	case "lock":
		_, err := p.try(name, longWait, milliseconds(words, 2))
		return "ok", err
	case "try":
		ok, err := p.try(name, milliseconds(words, 2), milliseconds(words, 3))
		return strconv.FormatBool(ok), err
	case "unlock":
		return p.unlock(name)
	case "mix":
		if len(words) < 6 {
			return "", errors.New("mix: no file")
		}
		return mix(p.client, name, number(words, 2), number(words, 3),
			words[5])
	case "campaign":
		return p.campaign(name, milliseconds(words, 2), words[3])
	case "resign":
		return p.resign(name)
	case "leader":
		return p.leader(name)
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

// Ends without a word to the server when its input does: a test that wants the
// locks given back says so.
func main() {
	client, err := clientv3.New(clientv3.Config{
		Endpoints:   []string{"127.0.0.1:" + os.Args[1]},
		DialTimeout: 20 * time.Second,
		Logger:      zap.NewNop(),
	})
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	p := &peer{client, map[string]*hold{}, map[string]*term{}}
	fmt.Println("ready")
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		fmt.Println(p.answerSafely(in.Text()))
	}
}
