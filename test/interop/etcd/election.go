// election.go: etcd's Election, for the words
//
//	campaign NAME LEASE_MS VALUE  ok, once it leads
//	resign NAME                   ok | not leader
//	leader NAME                   the leader's value | none
package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"go.etcd.io/etcd/client/v3/concurrency"
)

type term struct {
	session  *concurrency.Session
	election *concurrency.Election
}

func (p *peer) newTerm(name string, lease time.Duration) (*term, error) {
	session, err := concurrency.NewSession(p.client,
		concurrency.WithTTL(int(lease/time.Second)))
	if err != nil {
		return nil, err
	}
	return &term{session, concurrency.NewElection(session, prefix+name)}, nil
}

func (p *peer) campaign(name string, lease time.Duration,
	value string) (string, error) {
	t, err := p.newTerm(name, lease)
	if err != nil {
		return "", err
	}
	p.terms[name] = t
	return "ok", t.election.Campaign(context.Background(), value)
}

func (p *peer) resign(name string) (string, error) {
	t, found := p.terms[name]
	if !found {
		return "not leader", nil
	}
	delete(p.terms, name)
	err := t.election.Resign(context.Background())
	if e := t.session.Close(); err == nil {
		err = e
	}
	return "ok", err
}

func (p *peer) leader(name string) (string, error) {
	t, err := p.newTerm(name, time.Minute)
	if err != nil {
		return "", err
	}
	defer t.session.Close()
	found, err := t.election.Leader(context.Background())
	if errors.Is(err, concurrency.ErrElectionNoLeader) {
		return "none", nil
	}
	if err != nil {
		return "", err
	}
	return strings.ReplaceAll(string(found.Kvs[0].Value), "\n", " "), nil
}
