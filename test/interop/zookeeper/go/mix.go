// mix.go: locking again and again against everybody else on one name.  One
// rule: the counter, a number in a file, is read and written in two steps, so
// that only the lock can keep it right.
package main

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

const mixLease = 60 * time.Second

func count(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return err
	}
	runtime.Gosched()
	return os.WriteFile(file, []byte(strconv.Itoa(n+1)+"\n"), 0o600)
}

func (p *peer) work(name string, rounds int, file string) error {
	h, err := p.newHold(name, mixLease)
	if err != nil {
		return err
	}
	defer h.conn.Close()
	for i := 0; i < rounds && err == nil; i++ {
		if err = h.lock.Lock(); err != nil {
			break
		}
		err = count(file)
		if e := h.lock.Unlock(); err == nil {
			err = e
		}
	}
	return err
}

func (p *peer) mix(name string, workers, rounds int,
	file string) (string, error) {
	ends := make(chan error, workers)
	for i := 0; i < workers; i++ {
		go func() { ends <- p.work(name, rounds, file) }()
	}
	var err error
	for i := 0; i < workers; i++ {
		if e := <-ends; e != nil {
			err = e
		}
	}
	return "exact", err
}
