-- string_acquire.lua: take the lock under number T, as a string.
-- KEYS[1] lock  KEYS[2] fence counter; absent: only look
-- KEYS[3] of a quorum: boot marker
-- ARGV "hf1:<owner>:<attempt>:<T>:", T, lease ms, ":1:<pid> <host> <label>",
--      window us (absent: 2 s), block (absent: 0); 7th, of a quorum: its group
-- returns fence, granted by one server | {1 granted | 0 busy | -1 stale
--      | -2 the counter is no number | -3 no lock | -4 a string without an
--      end | -5 there is no boot marker of the group, fence or counter, now us,
--      ttl ms, 1 if the holder is silent}
local call, lock, counter, arg = redis.call, KEYS[1], KEYS[2], ARGV
local time = call('TIME')
local sec, usec = time[1], time[2]
local now = sec * 1000000 + usec
local mark, text, quorum = arg[1], arg[2], arg[7]
local t = tonumber(text)
local fresh = t >= now - (arg[5] or 2000000)
-- Concatenation is cheaper than string.format, where no zero is missing.
local clock = #usec == 6 and sec .. usec or string.format('%.0f', now)
local fence = t
if t < now and not quorum then
    fence, text = now, clock
end
local value = mark .. text .. ':' .. clock .. arg[4]
-- Without the marker the server may have forgotten what it granted; and a
-- quarantine that another client began counts for all clients.
local forgot
if quorum and KEYS[3] then
    local boot = call('GET', KEYS[3])
    local group, settled = (boot or ''):match('^v1 (%S+) %S+ (%d+)')
    forgot = not group or quorum ~= 'q' and quorum ~= group
        or tonumber(settled) > now
end
if not (counter and fresh and not forgot
    and call('SET', lock, value, 'NX', 'PX', arg[3])) then
    local left = call('PTTL', lock)
    local seen = counter and tonumber(call('GET', counter) or 0) or 0
    if left == -2 and forgot then
        return {-5, 0, now, left}
    end
    if left == -2 then
        -- A look follows a failed SET: the lock was released since.
        return counter and {-1, seen, now, left} or {0, 0, now, 0}
    end
    local has = redis.pcall('GET', lock)
    if type(has) == 'table' then
        if not has.err:find('WRONGTYPE', 1, true) then
            return has
        end
        if call('TYPE', lock).ok ~= 'hash' then
            return {-3, seen, now, left}
        end
        local page = call('HSCAN', lock, 0, 'COUNT', 16)[2]
        for i = 1, #page, 2 do
            local field = page[i]
            if field ~= 'hf' and field ~= 'mode'
                and not (field:find('^[%x-]+:.') and tonumber(page[i + 1])) then
                return {-3, seen, now, left}
            end
        end
        return {0, seen, now, left}
    end
    if has:find(mark, 1, true) == 1 then
        return {1, tonumber(has:match('^%d+', #mark + 1)), now, left}
    end
    -- The mark without its number: another try of the same attempt.
    if not counter or has:find(mark:sub(1, -#arg[2] - 2), 1, true) ~= 1 then
        if has:find('hf1:', 1, true) == 1 then
            return {0, seen, now, left}
        end
        return {left == -1 and -4 or 0, seen, now, left, 1}
    end
    if forgot then
        return {-5, 0, now, left}
    end
    if not (fresh and seen < t) then
        return {-1, seen, now, left}
    end
    call('SET', lock, value, 'PX', arg[3])
end
if arg[6] then
    text = string.format('%.0f', fence + arg[6])
end
-- Last, so that a user that may not lock changes no counter either.
local old = redis.pcall('SET', counter, text, 'GET')
if old then
    local n = type(old) == 'string' and tonumber(old)
    -- Written this way round, "nan" counts as too high and is put back.
    if not (n and n < t) then
        call('DEL', lock)
        if type(old) == 'table' then
            return old
        end
        call('SET', counter, old)
        if n and n < 9007199254740992 then
            return {-1, n, now, -2}
        end
        return {-2, 0, now, -2}
    end
end
if quorum then
    return {1, fence, now, -2}
end
return fence
