-- rw_acquire.lua: let a holder read or write the lock, if it is its turn.
-- KEYS[1] lock  KEYS[2] fence counter  KEYS[3] floor: its name and more is that
--      of what else belongs to the lock  KEYS[4] its record
-- ARGV owner, "r" read | "w" write | "u" write, also as the only reader,
--      "v1 <owner> <attempt> <T> ", T, lease ms, "<pid> <host> <label>"; order:
--      "F" fair, keep a place | "p" writers first | "P" and keep a writer's
--      place (absent or "": none), life of a place ms, window us (absent: 2 s)
-- returns granted: fence | {1 granted | 0 busy | -1 stale | -2 the counter is
--      no number | -3 no lock | -7 a plain lock, fence or floor,
--      now us, ttl ms, 1 a place is kept}
local call, lock, arg = redis.call, KEYS[1], ARGV
local owner, side, mark, text = arg[1], arg[2], arg[3], arg[4]
local reads = side == 'r'
local field = reads and owner or owner .. ':write'
local has = call('HMGET', lock, 'mode', field)
local old = call('MGET', KEYS[3], KEYS[4])
local time = call('TIME')
local sec, usec = time[1], time[2]
local now = sec * 1000000 + usec
local mode, mine = has[1], has[2]
local t = tonumber(text)
if mode ~= 'read' and mode ~= 'write'
    and (mode or call('EXISTS', lock) == 1) then
    local page = mode and {'?', ''} or call('HSCAN', lock, 0, 'COUNT', 16)[2]
    for i = 1, #page, 2 do
        if page[i] ~= 'hf'
            and not (page[i]:find('^[%x-]+:.') and tonumber(page[i + 1])) then
            return {-3, 0, now, -1}
        end
    end
    return {-7, 0, now, -1}
end
-- What this holder has, unless its lease is over or it was taken away.
local had = mine and old[2]
if had and had:find(mark, 1, true) == 1 then
    return {1, tonumber(had:match('^%d+', #mark + 1)), now, -1}
end
-- A letter before the number: there may be a queue.
local floor = tonumber(old[1] or 0)
local is_queue = not floor
floor = floor or tonumber(old[1]:sub(2)) or 0
-- A client's numbers rise: if it holds the lock under a higher number, this
-- request is old.
if not (t > floor) or t < now - (arg[9] or 2000000)
    or had and tonumber(had:match('^v1 %S+ %d+ (%d+) ')) > t then
    return {-1, floor, now, -1}
end
-- For how many ms other holders exclude it; -1 if none does.
local left = -1
local writes = mode == 'write'
    and (reads and call('HEXISTS', lock, owner .. ':write') == 1 or mine)
if mode and not (reads and (mode == 'read' or writes)
    or not reads and mode == 'write' and mine) then
    local base = KEYS[3]:sub(1, -6)
    local there, count_of, living = call('HGETALL', lock), {}, 0
    for i = 1, #there, 2 do
        count_of[there[i]] = there[i + 1]
    end
    count_of.mode = nil
    for name, count in pairs(count_of) do
        local by = name:match('^(.*):write$')
        local most = -2
        for i = 1, math.min(tonumber(count), 1000) do
            most = math.max(most,
                call('PTTL', base .. name .. ':rwlock_timeout:' .. i))
        end
        -- A writer of Redisson's has no record: it lasts as long as the lock.
        -- One of ours without a record is dead; its read hold shows that it
        -- is ours.
        if by and most < 0 then
            local reader = call('GET', base .. by .. ':rwlock_timeout:1') or ''
            if not (count_of[by] and reader:find('^v1 ')) then
                most = math.max(call('PTTL', lock), 0)
            end
        end
        if most < 0 then
            call('HDEL', lock, name)
            if by then
                call('HSET', lock, 'mode', 'read')
                mode = 'read'
            end
        else
            living = living + 1
            if (by or name) ~= owner and (by or not reads)
                or name == owner and side == 'w' then
                left = math.max(left, most)
            end
        end
    end
    if living == 0 then
        call('DEL', lock)
        mode = false
    end
end
local kind, order = reads and 'r' or 'w', arg[7]
local places = (is_queue or order) and KEYS[3] .. ':q'
local came, turn = nil, -1
if is_queue and call('EXISTS', places) == 1 then
    local now_ms = math.floor(now / 1000)
    -- The first in one queue: its name, when it came, until when it counts.
    local function first_of(which)
        local queue = KEYS[3] .. ':' .. which
        while true do
            local first = call('ZRANGE', queue, 0, 0, 'WITHSCORES')
            if not first[1] then
                return
            end
            local kept = call('HGET', places, which .. first[1]) or ''
            local ends = tonumber(kept:match('^%d+')) or 0
            if ends >= now_ms then
                return first[1], tonumber(first[2]), ends
            end
            call('ZREM', queue, first[1])
            call('HDEL', places, which .. first[1])
        end
    end
    local w, w_came, w_ends = first_of('w')
    local r, r_came, r_ends = first_of('r')
    local kept = call('HGET', places, kind .. owner)
    if kept and tonumber(kept:match('^%d+')) < now_ms then
        call('ZREM', KEYS[3] .. ':' .. kind, owner)
        call('HDEL', places, kind .. owner)
    elseif kept then
        came = tonumber(call('ZSCORE', KEYS[3] .. ':' .. kind, owner))
    end
    if reads and w and not (order == 'F' and came and came < w_came)
        or not reads and w and w ~= owner then
        turn = w_ends - now_ms
    end
    if not reads and r and order ~= 'p' and order ~= 'P'
        and not (came and came <= r_came) then
        turn = turn < 0 and r_ends - now_ms or math.min(turn, r_ends - now_ms)
    end
    -- A holder need not queue, even if it does not know of its grant yet.
    local is_own = had and had:match('^v1 %S+ (%d+) ')
        == mark:match('^v1 %S+ (%d+) ')
    if side == 'u' or mode == 'write' and writes or is_own then
        turn = -1
    end
end
if left >= 0 or turn >= 0 then
    if left < 0 or turn >= 0 and turn < left then
        left = turn
    end
    if order ~= 'F' and not (order == 'P' and not reads) then
        return {0, 0, now, left, 0}
    end
    -- The letter q tells later acquires that there is a queue to look at.
    call('SET', KEYS[3], string.format('q%.0f ', floor), 'PX', 2 * arg[8],
        'GET')
    call('HSET', places, kind .. owner,
        string.format('%.0f %s', math.floor(now / 1000) + arg[8],
            mark:match('^v1 %S+ (%d+) ')))
    if not came then
        call('ZADD', KEYS[3] .. ':' .. kind, string.format('%.0f', now), owner)
    end
    call('PEXPIRE', places, arg[8])
    call('PEXPIRE', KEYS[3] .. ':r', arg[8])
    call('PEXPIRE', KEYS[3] .. ':w', arg[8])
    return {0, 0, now, left, 1}
end
-- Grant it.  If the server refuses one of these writes, all are undone.
local clock = #usec == 6 and sec .. usec or string.format('%.0f', now)
local number, fence = text, t
if t < now then
    number, fence = clock, now
end
local before = mode and call('PTTL', lock) or -2
if mode and reads then
    call('HSET', lock, field, '1')
else
    call('HSET', lock, 'mode', reads and 'read' or 'write', field, '1')
end
local facts = ' ' .. clock .. ' ' .. arg[6]
local ends, refused = arg[5], nil
if before < tonumber(ends) then
    -- The blank marks the hold that has set the lock's expiry.  With readers
    -- it is set a little later, so that the next ones need not do it again.
    facts = facts .. ' '
    local is_put_off = redis.pcall('PEXPIRE', lock, mode and reads
        and string.format('%.0f', ends + math.min(1000, ends / 10)) or ends)
    refused = is_put_off ~= 1 and is_put_off
end
local kept = refused
    or redis.pcall('SET', KEYS[4], mark .. number .. facts, 'PX', arg[5])
local seen = kept.ok and redis.pcall('SET', KEYS[2], number, 'GET') or kept
local n = type(seen) == 'string' and (tonumber(seen) or 1 / 0)
if type(seen) == 'table' and not seen.ok or n and not (n < 9007199254740990) then
    redis.pcall('DEL', KEYS[4])
    if not mode then
        call('DEL', lock)
    else
        call('HDEL', lock, field)
        call('HSET', lock, 'mode', mode)
    end
    if type(seen) == 'table' then
        return seen
    end
    call('SET', KEYS[2], seen)
    return {-2, 0, now, -1}
end
if came then
    call('ZREM', KEYS[3] .. ':' .. kind, owner)
    call('HDEL', places, kind .. owner)
end
if n and n >= fence then
    -- The counter is ahead of the clock.
    number = string.format('%.0f', n + 1)
    call('SET', KEYS[2], number)
    call('SET', KEYS[4], mark .. number .. facts, 'PX', arg[5])
    return {1, n + 1, now, -1}
end
return fence
