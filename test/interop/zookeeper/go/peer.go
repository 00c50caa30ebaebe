// peer.go: a Go service on go-zookeeper that is told what to do, one line at a
// time, and answers each with one line (the words are in ../../README.md).  One
// rule: a hold has a session of its own, as two programs have; its time-out is
// the lease.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
)

// The chroot of our side's URL.
const root = "/locks/"

const longWait = 24 * time.Hour

type hold struct {
	conn *zk.Conn
	lock *zk.Lock
}

type peer struct {
	port  string
	holds map[string]*hold
}

type silent struct{}

func (silent) Printf(string, ...interface{}) {}

func (p *peer) newHold(name string, lease time.Duration) (*hold, error) {
	conn, _, err := zk.Connect([]string{"127.0.0.1:" + p.port}, lease,
		zk.WithLogger(silent{}))
	if err != nil {
		return nil, err
	}
	lock := zk.NewLock(conn, root+name, zk.WorldACL(zk.PermAll))
	return &hold{conn, lock}, nil
}

// The library can only wait for ever: a program that gives up ends its session,
// and its place in the queue with it.
func (p *peer) try(name string, wait, lease time.Duration) (bool, error) {
	h, err := p.newHold(name, lease)
	if err != nil {
		return false, err
	}
	end := make(chan error, 1)
	go func() { end <- h.lock.Lock() }()
	select {
	case err = <-end:
	case <-time.After(wait):
		h.conn.Close()
		return false, nil
	}
	if err != nil {
		h.conn.Close()
		return false, err
	}
	p.holds[name] = h
	return true, nil
}

func (p *peer) unlock(name string) (string, error) {
	h, found := p.holds[name]
	if !found {
		return "not owner", nil
	}
	delete(p.holds, name)
	err := h.lock.Unlock()
	h.conn.Close()
	return "ok", err
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
		return p.mix(name, number(words, 2), number(words, 3), words[5])
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
	p := &peer{os.Args[1], map[string]*hold{}}
	fmt.Println("ready")
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		fmt.Println(p.answerSafely(in.Text()))
	}
}
