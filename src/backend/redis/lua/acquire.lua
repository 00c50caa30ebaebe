-- acquire.lua: take the lock under number T, if it is free and T is new.
-- KEYS[1] lock  KEYS[2] fence counter  KEYS[3] queue; absent: there is none
--      KEYS[4] of a quorum, where KEYS[3] is not looked at: boot marker
-- ARGV owner, "v1 <owner> <attempt> <T> ", T, lease ms, "<pid> <host> <label>",
--      window us (absent: 2 s), tokens to reserve beyond the fence (absent: 0);
--      8th: the fence is T, not the clock.  With KEYS[4] it is, and the group
--      of the quorum ("q": any) is the 6th, before these two
-- returns granted: fence; with KEYS[4], now us | {1 granted | 0 busy | -1 stale
--      | -2 the counter is no number | -3 no lock | -5 there is no boot
--      marker of the group | -6 it is free, but others queue:
--      queue_acquire.lua | -7 a read/write lock, fence or counter, now us,
--      ttl ms; 2 if it is Redisson's}
local call, lock, arg = redis.call, KEYS[1], ARGV
local left = call('PTTL', lock)
local time = call('TIME')
local sec, usec = time[1], time[2]
local now = sec * 1000000 + usec
local mark, text, boot_key = arg[2], arg[3], KEYS[4]
local window, block, quorum = arg[6], arg[7], arg[8]
if boot_key then
    quorum, window, block = window, block, quorum
end
local t = tonumber(text)
local plus, seen = '', nil
if left ~= -2 then
    local has = call('HMGET', lock, 'hf', 'mode')
    local hf = has[1] or ''
    if hf:find(mark, 1, true) == 1 then
        return {1, tonumber(hf:match('^%+?(%d+)', #mark + 1)), now, left}
    end
    seen = tonumber(call('GET', KEYS[2]) or 0) or 0
    if hf:find(mark:match('^v1 %S+ %d+ '), 1, true) ~= 1 then
        -- Without our record it is Redisson's, or no lock at all.
        local page = hf == '' and redis.pcall('HSCAN', lock, 0, 'COUNT', 16)
        page = page and page[2] or {}
        for i = 1, #page, 2 do
            local field = page[i]
            if field ~= 'mode'
                and not (field:find('^[%x-]+:.') and tonumber(page[i + 1])) then
                return {-3, seen, now, left}
            end
        end
        return {has[2] and -7 or 0, seen, now, left, hf == '' and 2 or 0}
    end
    -- Keep the "+" by which waiters announced themselves in the old record:
    -- they do not repeat it.
    plus = hf:match('^v1 %S+ %d+ %d+ (%+?)')
elseif KEYS[3] and not quorum and call('EXISTS', KEYS[3]) == 1 then
    return {-6, 0, now, left}
end
-- Without the marker the server may have forgotten what it granted; and a
-- quarantine that another client began counts for all clients.
if boot_key then
    local boot = call('GET', boot_key)
    local group, settled = (boot or ''):match('^v1 (%S+) %S+ (%d+)')
    if not group or quorum ~= 'q' and quorum ~= group
        or tonumber(settled) > now then
        return {-5, 0, now, left}
    end
end
if seen and not (seen < t) then
    return {-1, seen, now, left}
end
if t < now - (window or 2000000) then
    return {-1, tonumber(call('GET', KEYS[2]) or 0) or 0, now, left}
end
-- Concatenation is cheaper than string.format, where no zero is missing.
local clock = #usec == 6 and sec .. usec or string.format('%.0f', now)
local fence = t
if t < now and not quorum then
    fence, text = now, clock
end
call('HSET', lock, arg[1], '1',
    'hf', mark .. plus .. text .. ' ' .. clock .. ' ' .. arg[5])
-- A lock that never expires must not stay.
local ends = redis.pcall('PEXPIRE', lock, arg[4])
if ends ~= 1 then
    redis.pcall('DEL', lock)
    return ends
end
if block then
    text = string.format('%.0f', fence + block)
end
-- Last, so that a user that may not lock changes no counter either.
local old = redis.pcall('SET', KEYS[2], text, 'GET')
if old then
    local n = type(old) == 'string' and tonumber(old)
    -- Written this way round, "nan" counts as too high and is put back.
    if not (n and n < t) then
        call('DEL', lock)
        if type(old) == 'table' then
            return old
        end
        call('SET', KEYS[2], old)
        if n and n < 9007199254740992 then
            return {-1, n, now, left}
        end
        return {-2, 0, now, left}
    end
end
if boot_key then
    return now
end
if quorum then
    return {1, fence, now, left}
end
return fence
