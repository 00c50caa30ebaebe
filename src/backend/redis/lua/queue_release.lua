-- queue_release.lua: release a lock to the longest waiter, or leave the queue.
-- KEYS[1] lock  KEYS[2] fence counter  KEYS[3] waiters, by arrival us:
--      "<owner> <attempt> <T> <lease ms> <asked us> <info>", and last ""
--      KEYS[4] owners that left while a request of theirs may be on its way,
--      by when that is forgotten in ms
--      KEYS[5] records: of an owner its member of KEYS[3]; of "x" and an owner
--      that left its T; of "b" the counter after the last break; of "." "<end
--      s> <last arrival us>"
-- ARGV "v1 <owner> <attempt> <T> ", channel, owner, T, letters: s the messages
--      are sharded, b and always go out both ways, h count the waiters, wake
--      none, l leave the queue, u a proposal may come behind this
-- returns {released: processes told, or -1 | -2 absent | -3 of another owner
--      | -5 released, but others have it too, in another layout, now us}
local call, lock, counter, queue, records = redis.call, KEYS[1], KEYS[2],
    KEYS[3], KEYS[5]
local mark, channel, owner, text, how = unpack(ARGV)
local time = call('TIME')
local clock = #time[2] == 6 and time[1] .. time[2]
    or string.format('%s%06d', time[1], time[2])
local now, t = tonumber(clock), tonumber(text)
local hf = call('HGET', lock, 'hf')
local code = -2
local simple = hf and hf:find(mark, 1, true) == 1
if simple or hf and hf:find(mark:match('^v1 %S+ %d+ '), 1, true) == 1 then
    -- Delete before any other write: a full server only accepts that.
    -- Other fields belong to a lock of another layout, which stays.
    local fields = redis.pcall('HLEN', lock)
    if type(fields) == 'number' and fields > 2 then
        call('HDEL', lock, owner, 'hf')
        code = -5
    else
        call('DEL', lock)
        code = 1
    end
elseif hf or call('EXISTS', lock) == 1 then
    code = -3
end
local leaves = how:find('l', 1, true)
if leaves and (code ~= 1 or how:find('u', 1, true)) then
    local member = call('HGET', records, owner)
    local last = member and tonumber(member:match('^%S+ %d+ (%d+)'))
    -- A later place of the same owner stays.
    if last and last <= t then
        call('ZREM', queue, member)
        call('HDEL', records, owner)
    end
    if how:find('u', 1, true) then
        -- A request that comes after this time is refused as too old.
        local now_ms, gone = math.floor(now / 1000), KEYS[4]
        local dead = call('ZRANGEBYSCORE', gone, '-inf', '(' .. now_ms,
            'LIMIT', 0, 100)
        if #dead > 0 then
            call('ZREM', gone, unpack(dead))
            for i = 1, #dead do
                dead[i] = 'x' .. dead[i]
            end
            call('HDEL', records, unpack(dead))
        end
        local x = tonumber(call('HGET', records, 'x' .. owner) or 0)
        if x < t then
            redis.pcall('HSET', records, 'x' .. owner, text)
            x = t
        end
        -- A number ahead of the clock takes longer to become too old.
        local ahead = math.max(math.ceil(x / 1000) - now_ms, 0)
        redis.pcall('ZADD', gone, now_ms + ahead + 3000, owner)
        if call('PTTL', gone) < ahead + 6000 then
            redis.pcall('PEXPIRE', gone, ahead + 6000)
        end
        if call('PTTL', records) < ahead + 6000 then
            redis.pcall('PEXPIRE', records, ahead + 10000)
        end
    end
end
local is_free = code == 1 or code == -2 and leaves
if is_free then
--@include queue_give
    if give(t, code == 1) then
        return {code, now}
    end
end
-- Granted under this very number: the counter is there already.
if not simple then
    local old = redis.pcall('GET', counter)
    if type(old) ~= 'table' and (tonumber(old or 0) or t) < t then
        redis.pcall('SET', counter, text)
    end
end
if is_free then
--@include publish
    local sharded = how:find('s', 1, true) and how
    local told = how:find('h', 1, true) and listeners(sharded, channel)
        or publish(sharded, channel, '0')
    if code == 1 then
        code = type(told) == 'number' and told or -1
    end
end
return {code, now}
