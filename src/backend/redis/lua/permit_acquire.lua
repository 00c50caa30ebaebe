-- permit_acquire.lua: take permits of a semaphore, all or none.
-- KEYS[1] available  KEYS[2] permits that are out  KEYS[3] facts
--      KEYS[4] fence counter  KEYS[5] mark: this attempt was given up
--      KEYS[6] queue  KEYS[7] leases of those in it
-- ARGV id, "v1 <owner> <attempt> ", permits, T, lease ms, "<pid> <host>
--      <label>", channel, window us, owner, lease ms in the queue; 11th,
--      letters: s the messages are sharded, b and always go out both ways;
--      q keep a place in the queue; 12th: how many there are, if the store has
--      no number yet
-- returns granted: fence | {1 granted before | 0 busy | -1 stale | -2 the
--      counter is no number | -3 no semaphore | -4 a counter of another kind
--      | -5 more than there are, fence or counter or all there are or the
--      kind, now us, ttl ms, poll ms}
local call, pcall, arg = redis.call, redis.pcall, ARGV
local name, out, facts = KEYS[1], KEYS[2], KEYS[3]
local id, n, t = arg[1], tonumber(arg[3]), tonumber(arg[4])
local time = call('TIME')
local sec, usec = time[1], time[2]
local now = sec * 1000000 + usec
local ms = math.floor(now / 1000)
-- WRONGTYPE: it is no semaphore; other errors are passed on.
local function refusal(err, code)
    return err.err:find('WRONGTYPE', 1, true) and {code or -3, 0, now, -1, 0}
        or err
end
-- MGET returns false for a key that is missing or of another type.
local has = pcall('MGET', name, KEYS[4], KEYS[5])
if has.err then
    return has
end
local text, seen = has[1], has[2]
if not text then
    text = pcall('GET', name)
    if type(text) == 'table' then
        return refusal(text)
    end
elseif not tonumber(text) or text:find('[^%d-]') then
    return {-3, 0, now, -1, 0}
end
local first = pcall('ZRANGE', out, 0, 0, 'WITHSCORES')
if first.err then
    return refusal(first)
end
local was_empty, kind = not first[2], nil
if was_empty then
    kind = pcall('HGET', facts, 'kind')
    if type(kind) == 'table' then
        return refusal(kind)
    end
    if text and kind and kind ~= 'permit' then
        return {-4, kind, now, -1, 0}
    end
end
-- What this attempt got before, if it still has it.  Its lease begins anew: a
-- waiter that did not learn of its grant asks again, and counts from then.
local function granted_before()
    local mark = arg[2]
    local ends = call('ZSCORE', out, id .. '\0\0')
    local had = ends and tonumber(ends) > ms and call('HGET', facts, id)
    if had and had:find(mark, 1, true) == 1 then
        -- As in permit_renew.lua: first what a full server takes.
        local life = math.max(call('PTTL', facts), 1000 + arg[5])
        call('PEXPIRE', facts, string.format('%.0f', life))
        local later = string.format('%.0f', ms + 1 + arg[5])
        for i = 0, n - 1 do
            call('ZADD', out, 'XX', 'GT', later,
                id .. string.char(math.floor(i / 256), i % 256))
        end
        local fence = had:match('^%d+ (%d+)', #mark + 1)
        return {1, tonumber(fence), now, -1, 0}
    end
end
if has[3] then
    return {-1, t, now, -1, 0}
end
if t < now - arg[8] then
    return granted_before() or {-1, 0, now, -1, 0}
end
local free, ended = tonumber(text or 0), 0
local letters = arg[11] or ''
local function tell(number)
    if number > 0 then
--@include publish
        publish(letters:find('s', 1, true) and letters, arg[7],
            string.format('%.0f', number))
    end
end
-- Without a stored number the caller's is used, less the permits that are out.
-- The key is a semaphore of ours from then on.
if not text and arg[12] then
    text = pcall('INCRBY', name,
        string.format('%.0f', arg[12] - call('ZCARD', out)))
    if type(text) == 'table' then
        return text
    end
    free = text
    kind = 'permit'
    pcall('HSET', facts, 'kind', kind)
    pcall('PEXPIRE', facts, 2678400000)
    tell(free)
end
-- Permits whose lease has ended come back before the caller is refused.
if not was_empty and tonumber(first[2]) <= ms then
    local ids = call('ZRANGEBYSCORE', out, '-inf', ms, 'LIMIT', 0, 1000)
    ended = #ids
    call('INCRBY', name, ended)
    local done = pcall('ZREM', out, unpack(ids))
    if type(done) == 'table' then
        call('DECRBY', name, ended)
        return done
    end
    for i = 1, ended do
        ids[i] = ids[i]:sub(1, 14)
    end
    pcall('HDEL', facts, unpack(ids))
    free = free + ended
    first = call('ZRANGE', out, 0, 0, 'WITHSCORES')
end
-- The first of the queue, without waiters whose lease has ended.
local queue, owner = KEYS[6], arg[9]
local head, waiting = nil, call('ZCARD', queue)
if waiting > 0 then
    local dead = call('ZRANGEBYSCORE', KEYS[7], '-inf', ms, 'LIMIT', 0, 1000)
    if #dead > 0 then
        call('ZREM', queue, unpack(dead))
        call('ZREM', KEYS[7], unpack(dead))
    end
    head = call('ZRANGE', queue, 0, 0)[1]
end
if free < n or head and head ~= owner then
    local before = granted_before()
    if before then
        return before
    end
    if ended > 0 then
        tell(free)
    end
    local all = free + call('ZCARD', out)
    if text and n > all then
        return {-5, all, now, -1, 0}
    end
    local left, poll = -1, 0
    if first[2] and tonumber(first[2]) < 922337203685477 then
        left = math.max(tonumber(first[2]) - ms, 0)
    end
    if letters:find('q', 1, true) then
        local life = tonumber(arg[10])
        call('ZADD', queue, 'NX', string.format('%.0f', now), owner)
        call('ZADD', KEYS[7], string.format('%.0f', ms + life), owner)
        call('PEXPIRE', queue, 2 * life)
        call('PEXPIRE', KEYS[7], 2 * life)
        poll = math.floor(life / 3)
    end
    if free >= n then
        -- The one in front has not come for its permits yet.
        local lease = tonumber(call('ZSCORE', KEYS[7], head) or ms)
        left = math.max(lease - ms, 0)
    end
    return {0, 0, now, left, poll}
end
if not seen then
    seen = pcall('GET', KEYS[4])
    if type(seen) == 'table' then
        return refusal(seen, -2)
    end
end
local last = tonumber(seen or 0)
if not last or not (last < 9007199254740991) then
    return {-2, 0, now, -1, 0}
end
-- Concatenation is cheaper than string.format, where no zero is missing.
local clock = #usec == 6 and sec .. usec or string.format('%.0f', now)
local fence, number = now, clock
if last >= now then
    fence = last + 1
    number = string.format('%.0f', fence)
end
local ends = string.format('%.0f', ms + 1 + arg[5])
-- One after the other; if one is refused, those before it are taken back.
local ids, r = {id .. '\0\0'}, nil
if n == 1 then
    r = pcall('ZADD', out, 'NX', ends, ids[1])
else
    local pairs_of = {}
    for i = 0, n - 1 do
        ids[i + 1] = id .. string.char(math.floor(i / 256), i % 256)
        pairs_of[2 * i + 1], pairs_of[2 * i + 2] = ends, ids[i + 1]
    end
    r = pcall('ZADD', out, 'NX', unpack(pairs_of))
end
if type(r) == 'table' then
    return r
end
if r < n then
    -- Perhaps a copy of a request that was granted before.
    local before = r == 0 and granted_before()
    if not before then
        call('ZREM', out, unpack(ids))
        call('INCRBY', name, n - r)
    end
    return before or {-1, t, now, -1, 0}
end
r = pcall('HSET', facts, id,
    arg[2] .. n .. ' ' .. number .. ' ' .. clock .. ' ' .. arg[6])
if type(r) ~= 'table' and call('PTTL', facts) < tonumber(arg[5]) then
    r = pcall('PEXPIRE', facts, 1000 + arg[5])
end
if type(r) ~= 'table' then
    r = pcall('SET', KEYS[4], number)
    if not r.err then
        r = pcall('DECRBY', name, n)
        if type(r) == 'table' and seen then
            pcall('SET', KEYS[4], seen)
        elseif type(r) == 'table' then
            pcall('DEL', KEYS[4])
        end
    end
end
if type(r) == 'table' then
    pcall('HDEL', facts, id)
    pcall('ZREM', out, unpack(ids))
    return r
end
local life = was_empty and call('PTTL', name) or -1
if life > 0 then
    call('PEXPIRE', out, life)
end
-- Which kind it is, for 30 days after it was last used; told anew once a day.
if was_empty and (not kind or call('PTTL', facts) < 2592000000)
    and type(pcall('HSET', facts, 'kind', 'permit')) == 'number' then
    pcall('PEXPIRE', facts, 2678400000)
end
if waiting > 0 then
    call('ZREM', queue, owner)
    call('ZREM', KEYS[7], owner)
    waiting = call('ZCARD', queue)
end
if ended > 0 or waiting > 0 then
    tell(free - n)
end
return fence
