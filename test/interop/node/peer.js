// peer.js: a Node service on redlock that is told what to do, one line at a
// time, and answers each with one line (the words are in ../README.md).  One
// rule: what the library says decides; nothing is asked of the server behind
// its back, except the counter in `mix`.
'use strict';

const readline = require('node:readline');
const { createRequire } = require('node:module');

// The packages are installed outside of the source: the first argument says
// where; the others are those of every peer.
const [modules, port] = process.argv.slice(2);
const load = createRequire(`${modules}/x.js`);
const { Redis } = load('ioredis');
const { default: Redlock, ExecutionError } = load('redlock');

const RETRY_MS = 5;
const MIX_LEASE_MS = 60000;
const ONCE = { retryCount: 0 };
const FOR_EVER = { retryCount: -1 };

const client = new Redis({ host: '127.0.0.1', port: Number(port) });
client.on('error', () => {});
const redlock = new Redlock([client], {
    ...ONCE, retryDelay: RETRY_MS, retryJitter: RETRY_MS - 1,
});

// A vote against says that the lock is not ours, unless the server said it.
async function isRefused(error) {
    if (!(error instanceof ExecutionError)) return false;
    for (const attempt of error.attempts) {
        for (const why of (await attempt).votesAgainst.values()) {
            if (why.name !== 'ResourceLockedError') return false;
        }
    }
    return true;
}

async function orRefused(promise) {
    try {
        return await promise;
    } catch (error) {
        if (await isRefused(error)) return null;
        throw error;
    }
}

class Peer {
    constructor() {
        this.locks = new Map();
    }

    async acquire(name, settings, leaseMs) {
        const lock = await orRefused(
            redlock.acquire([name], leaseMs, settings));
        if (lock) this.locks.set(name, lock);
        return lock !== null;
    }

    // The library counts tries and knows no time: so one try after the other.
    async tryFor(name, waitMs, leaseMs) {
        const end = performance.now() + waitMs;
        while (!await this.acquire(name, ONCE, leaseMs)) {
            if (performance.now() >= end) return false;
            await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
        }
        return true;
    }

    async lock(name, leaseMs) {
        await this.acquire(name, FOR_EVER, leaseMs);
        return 'ok';
    }

    async unlock(name) {
        const lock = this.locks.get(name);
        this.locks.delete(name);
        if (!lock) return 'not owner';
        return await orRefused(lock.release()) ? 'ok' : 'not owner';
    }

    async extend(name, leaseMs) {
        const lock = this.locks.get(name);
        if (!lock) return 'not owner';
        const longer = await orRefused(lock.extend(leaseMs));
        if (longer) this.locks.set(name, longer);
        return longer ? 'ok' : 'not owner';
    }
}

// Random locking; only the lock can keep the counter right, which is read and
// written in two steps.
class Mixer extends Peer {
    constructor(name, seed) {
        super();
        this.name = name;
        this.seed = seed;
    }

    below(n) {
        this.seed = (Math.imul(this.seed, 1664525) + 1013904223) >>> 0;
        return (this.seed >>> 16) % n;
    }

    async count() {
        const n = Number(await client.get('counter'));
        if (this.below(4) === 0) await new Promise(setImmediate);
        await client.set('counter', n + 1);
    }

    async acquireSomehow() {
        if (this.below(2) === 0) {
            await this.lock(this.name, MIX_LEASE_MS);
            return;
        }
        while (!await this.tryFor(this.name, this.below(50), MIX_LEASE_MS));
    }

    async round() {
        let end;
        await this.acquireSomehow();
        try {
            await this.count();
            if (this.below(5) === 0) {
                Mixer.expectOk(await this.extend(this.name, MIX_LEASE_MS));
            }
        } finally { // a failure must not make the others wait for ever
            end = await this.unlock(this.name);
        }
        Mixer.expectOk(end);
    }

    static expectOk(text) {
        if (text !== 'ok') throw new Error(text);
    }

    async work(rounds) {
        for (let i = 0; i < rounds; i++) await this.round();
    }
}

async function mix(name, workers, rounds, seed) {
    const parts = [];
    for (let i = 0; i < workers; i++) {
        parts.push(new Mixer(name, seed + i).work(rounds));
    }
    await Promise.all(parts);
    return 'exact';
}

const peer = new Peer();
const verbs = {
    lock: (name, leaseMs) => peer.lock(name, leaseMs),
    try: async (name, waitMs, leaseMs) =>
        String(await peer.tryFor(name, waitMs, leaseMs)),
    unlock: (name) => peer.unlock(name),
    extend: (name, leaseMs) => peer.extend(name, leaseMs),
    mix,
};

async function answer(line) {
    try {
        const [verb, name, ...numbers] = line.split(' ');
        return await verbs[verb](name, ...numbers.map(Number));
    } catch (error) {
        return `error: ${error}`.replaceAll('\n', ' ');
    }
}

// Ends when its input does, without a word to the server: a test that wants
// the locks released asks for it.
async function main() {
    await client.ping();
    console.log('ready');
    for await (const line of readline.createInterface(process.stdin)) {
        console.log(await answer(line));
    }
    process.exit(0);
}

main();
