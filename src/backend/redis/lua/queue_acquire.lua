-- queue_acquire.lua: take the lock if no other waiter comes first, or queue.
-- KEYS[1] lock  KEYS[2] fence counter  KEYS[3] waiters  KEYS[4] waiters that
--      have left  KEYS[5] records of both; all as in queue_release.lua
-- ARGV "v1 <owner> <attempt> <T> ", channel, owner, T, letters: s the messages
--      are sharded, q keep a place; "<owner> <attempt> <T> <lease ms> ",
--      attempt, lease ms, "<pid> <host> <label>", window us, tokens to reserve
--      beyond the fence (absent: none)
-- returns {1 granted | 0 busy | -1 stale | -2 the counter is no number | -3 no
--      lock | -7 a read/write lock, fence or counter or 0, now us, ttl ms or
--      -3 not told, 0, with a place: ask again within ms}
local call, lock, queue, records = redis.call, KEYS[1], KEYS[3], KEYS[5]
local mark, channel, owner, text, how, said, attempt, lease, info, window,
    block = unpack(ARGV)
local time = call('TIME')
local sec = time[1]
local clock = #time[2] == 6 and sec .. time[2]
    or string.format('%s%06d', sec, time[2])
local now, t, queues = tonumber(clock), tonumber(text), how:find('q', 1, true)
local too_old = t < now - window
local hf = call('HGET', lock, 'hf')
local left = -3
if not hf then
    left = call('PTTL', lock)
    if left ~= -2 then
        -- Without our record it is Redisson's, or no lock at all.
        local page = call('HSCAN', lock, 0, 'COUNT', 16)[2]
        for i = 1, #page, 2 do
            local field = page[i]
            if field == 'mode' then
                return {-7, 0, now, left}
            elseif not (field:find('^[%x-]+:.') and tonumber(page[i + 1])) then
                return {-3, 0, now, left}
            end
        end
    end
else
    if hf:find(mark, 1, true) == 1 then
        return {1, tonumber(hf:match('^%+?(%d+)', #mark + 1)), now, left}
    end
    local its, a, n, at, plus = hf:match('^v1 (%S+) (%d+) (%d+) ()(%+?)')
    if its == owner and (a == attempt or queues) then
        if not queues or t <= tonumber(n) or too_old then
            return {-1, 0, now, left}
        end
        if a == attempt then
            -- This attempt has the lock already: it was handed over, or granted
            -- by an answer that was lost.
            call('HSET', lock, 'hf', mark .. '+' .. hf:sub(at + #plus))
            call('PEXPIRE', lock, lease)
            local old = call('GET', KEYS[2])
            if (tonumber(old or 0) or t) < t then
                call('SET', KEYS[2], text)
            end
            return {1, tonumber(hf:match('^%+?(%d+)', at)), now, left}
        end
    end
    if not queues then
        return {0, 0, now, call('PTTL', lock)}
    end
    if plus == '' and not too_old then
        -- The "+" tells the holder's release that there is a waiter.
        call('HSET', lock, 'hf', hf:sub(1, at - 1) .. '+' .. hf:sub(at))
    end
end
if not queues and left ~= -2 then
    return {0, 0, now, left}
end
local known = call('HMGET', records, owner, 'x' .. owner, '.', 'b')
local member = known[1]
local place
if queues then
    if too_old or known[2] and t <= tonumber(known[2]) then
        return {-1, 0, now, left}
    end
    if member then
        local a, n, asked = member:match('^%S+ (%d+) (%d+) %d+ (%d+)')
        n = tonumber(n)
        if t < n or t == n and a ~= attempt then
            return {-1, 0, now, left}
        end
        if a == attempt and tonumber(asked) + 3000000 >= now then
            place = call('ZSCORE', queue, member)
            left = left == -3 and call('PTTL', lock) or left
        end
        known[4] = a ~= attempt and known[4]
    end
    -- A break has come since, and may have taken away what this asked for.
    if known[4] and t <= tonumber(known[4]) then
        return {-1, tonumber(call('GET', KEYS[2]) or 0) or 0, now, left}
    end
end
local seen
if left == -2 or place then
    -- The first waiter; those that did not ask again in time are removed.
    local head
    while true do
        head = call('ZRANGE', queue, 0, 0)[1]
        if not head or head == '' or head == member then
            break
        end
        local to, asked = head:match('^(%S+) %d+ %d+ %d+ (%d+)')
        if tonumber(asked) + 3000000 >= now then
            break
        end
        call('ZREM', queue, head)
        call('HDEL', records, to)
    end
    if left == -2 then
        local counter = KEYS[2]
        seen = tonumber(call('GET', counter) or 0)
        if not seen or seen >= 9007199254740991 then
            return {-2, 0, now, left}
        end
        local is_none = not head or head == ''
        if is_none and (not (seen < t) or too_old) then
            return {-1, seen, now, left}
        end
        if is_none or place and head == member then
            local fence = math.max(t, now, is_none and 0 or seen + 1)
            local number = string.format('%.0f', fence)
            call('HSET', lock, owner, '1', 'hf',
                mark .. '+' .. number .. ' ' .. clock .. ' ' .. info)
            -- A lock that never expires must not stay.
            local r = redis.pcall('PEXPIRE', lock, lease)
            if r ~= 1 then
                redis.pcall('DEL', lock)
                return r
            end
            r = redis.pcall('SET', counter,
                block and string.format('%.0f', fence + block) or number)
            if r.err then
                redis.pcall('DEL', lock)
                return r
            end
            if not is_none then
                call('ZREM', queue, member)
                call('HDEL', records, owner)
            elseif head then
                call('DEL', queue)
                call('HDEL', records, '.')
            end
            return {1, fence, now, left}
        end
    end
end
if queues then
    local ends, last = (known[3] or '0 0'):match('^(%d+) (%d+)')
    local arrival = place or clock
    if not place then
        -- Behind the last, whatever the clock says.
        if tonumber(last) >= now then
            arrival = string.format('%.0f', last + 1)
        end
        last = arrival
    end
    if member then
        call('ZREM', queue, member)
    end
    member = said .. clock .. ' ' .. info
    if tonumber(ends) < sec + 4 then
        -- Both keys expire if no waiter asks again.
        call('HSET', records, owner, member, '.', sec + 10 .. ' ' .. last)
        call('ZADD', queue, arrival, member, '+inf', '')
        call('PEXPIRE', queue, 10000)
        if call('PTTL', records) < 10000 then
            call('PEXPIRE', records, 10000)
        end
    else
        call('HSET', records, owner, member, '.', ends .. ' ' .. last)
        call('ZADD', queue, arrival, member)
    end
end
if left == -2 then
    local counter = KEYS[2]
--@include queue_give
    local fence, err = give(seen)
    if err then
        return err
    end
    seen, left = fence or seen, call('PTTL', lock)
end
return {0, seen or 0, now, left, 0, queues and 1000 or 0}
