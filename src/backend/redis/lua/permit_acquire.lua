-- permit_acquire.lua: take permits of a semaphore, all or none.
-- KEYS[1] available  KEYS[2] permits that are out  KEYS[3] facts
--      KEYS[4] fence counter  KEYS[5] mark: this attempt was given up
--      KEYS[6] queue  KEYS[7] leases of those in it
-- ARGV id, "v1 <owner> <attempt> ", permits, T, lease ms, "<pid> <host>
--      <label>", channel, window us, owner, lease ms in the queue; 11th,
--      letters: s the messages are sharded; q keep a place in the queue
-- returns {1 granted | 0 busy | -1 stale | -2 the counter is no number
--      | -3 no semaphore | -4 a counter of another kind | -5 more than there
--      are, fence or counter or all there are, now us, ttl ms, poll ms}
local call, pcall, arg = redis.call, redis.pcall, ARGV
local name, out, facts, queue = KEYS[1], KEYS[2], KEYS[3], KEYS[6]
local id, mark, n, t = arg[1], arg[2], tonumber(arg[3]), tonumber(arg[4])
local owner, letters = arg[9], arg[11] or ''
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local ms = math.floor(now / 1000)
-- What is of another type is no semaphore; other refusals are told as they are.
local function refusal(err)
    return err.err:find('WRONGTYPE', 1, true) and {-3, 0, now, -1, 0} or err
end
local text = pcall('GET', name)
if type(text) == 'table' then
    return refusal(text)
end
if text and not text:find('^-?%d+$') then
    return {-3, 0, now, -1, 0}
end
local had = pcall('HMGET', facts, id, 'kind')
if had.err then
    return refusal(had)
end
if had[2] and had[2] ~= 'permit' then
    return {-4, 0, now, -1, 0}
end
local first = pcall('ZRANGE', out, 0, 0, 'WITHSCORES')
if first.err then
    return refusal(first)
end
if had[1] and had[1]:find(mark, 1, true) == 1 then
    local ends = call('ZSCORE', out, id .. '\0\0')
    if ends and tonumber(ends) > ms then
        local fence = had[1]:match('^%d+ (%d+)', #mark + 1)
        return {1, tonumber(fence), now, -1, 0}
    end
end
if call('EXISTS', KEYS[5]) == 1 then
    return {-1, t, now, -1, 0}
end
if t < now - arg[8] then
    return {-1, 0, now, -1, 0}
end
local free = tonumber(text or 0)
local function tell(number)
    if number > 0 then
        pcall(letters:find('s', 1, true) and 'SPUBLISH' or 'PUBLISH', arg[7],
            string.format('%.0f', number))
    end
end
-- What has ended comes back before anybody is refused.
local ended = 0
if first[2] and tonumber(first[2]) <= ms then
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
local all = free + call('ZCARD', out)
if text and n > all then
    tell(ended > 0 and free or 0)
    return {-5, all, now, -1, 0}
end
-- Who comes first?  The dead in the queue are skipped.
local head, waiting = nil, call('ZCARD', queue)
if waiting > 0 then
    local dead = call('ZRANGEBYSCORE', KEYS[7], '-inf', ms, 'LIMIT', 0, 1000)
    if #dead > 0 then
        call('ZREM', queue, unpack(dead))
        call('ZREM', KEYS[7], unpack(dead))
    end
    head = call('ZRANGE', queue, 0, 0)[1]
end
local left = -1
if first[2] and tonumber(first[2]) < 922337203685477 then
    left = math.max(tonumber(first[2]) - ms, 0)
end
if free < n or head and head ~= owner then
    if ended > 0 then
        tell(free)
    end
    local poll = 0
    if letters:find('q', 1, true) then
        local life = tonumber(arg[10])
        call('ZADD', queue, 'NX', string.format('%.0f', now), owner)
        call('ZADD', KEYS[7], string.format('%.0f', ms + life), owner)
        call('PEXPIRE', queue, 2 * life)
        call('PEXPIRE', KEYS[7], 2 * life)
        poll = math.floor(life / 3)
    end
    if free >= n then
        -- The one in front has not come for his yet.
        local lease = tonumber(call('ZSCORE', KEYS[7], head) or ms)
        left = math.max(lease - ms, 0)
    end
    return {0, 0, now, left, poll}
end
local seen = pcall('GET', KEYS[4])
if type(seen) == 'table' then
    return seen.err:find('WRONGTYPE', 1, true) and {-2, 0, now, -1, 0} or seen
end
seen = tonumber(seen or 0)
if not seen or not (seen < 9007199254740991) then
    return {-2, 0, now, -1, 0}
end
local fence = math.max(seen + 1, now)
local number = string.format('%.0f', fence)
local ends = string.format('%.0f', ms + 1 + arg[5])
local ids = {}
for i = 0, n - 1 do
    ids[2 * i + 1] = ends
    ids[2 * i + 2] = id .. string.char(math.floor(i / 256), i % 256)
end
-- One after the other; if one is refused, those before it are taken back.
local undo = {}
local function done_with(result)
    if type(result) ~= 'table' or not result.err then
        return false
    end
    for i = #undo, 1, -1 do
        pcall(unpack(undo[i]))
    end
    return true
end
local r = pcall('HSET', facts, id, mark .. n .. ' ' .. number .. ' '
    .. string.format('%.0f', now) .. ' ' .. arg[6])
if done_with(r) then
    return r
end
undo[1] = {'HDEL', facts, id}
if call('PTTL', facts) < tonumber(arg[5]) then
    r = pcall('PEXPIRE', facts, 1000 + arg[5])
    if done_with(r) then
        return r
    end
end
r = pcall('ZADD', out, unpack(ids))
if done_with(r) then
    return r
end
undo[2] = {'ZREM', out}
for i = 2, #ids, 2 do
    undo[2][i / 2 + 2] = ids[i]
end
r = pcall('SET', KEYS[4], number)
if done_with(r) then
    return r
end
undo[3] = seen > 0 and {'SET', KEYS[4], string.format('%.0f', seen)}
    or {'DEL', KEYS[4]}
r = pcall('DECRBY', name, n)
if done_with(r) then
    return r
end
local life = call('PTTL', name)
if life > 0 then
    call('PEXPIRE', out, life)
end
if waiting > 0 then
    call('ZREM', queue, owner)
    call('ZREM', KEYS[7], owner)
    waiting = call('ZCARD', queue)
end
if ended > 0 or waiting > 0 then
    tell(free - n)
end
return {1, fence, now, -1, 0}
