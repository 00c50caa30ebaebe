-- rw_release.lua: give one hold of a read/write lock back, and let no older
--      proposal in.
-- KEYS[1] lock  KEYS[2] floor: its name and more is that of what else belongs
--      to the lock  KEYS[3] its record
-- ARGV owner, "r" | "w", "v1 <owner> <attempt> ", "<T> ", channel, life of the
--      floor ms; 7th, letters: s the messages are sharded, b and always go out
--      both ways; q give up its place, too
-- returns released: processes told, or -1 | -2 absent | -3 another owner's
local call, lock, arg = redis.call, KEYS[1], ARGV
local owner, reads, mark, t = arg[1], arg[2] == 'r', arg[3], arg[4]
local code, word = -2, nil
local had = call('GET', KEYS[3])
if had and had:find(mark, 1, true) ~= 1 then
    -- The record is of a later attempt: it stays as it is.
    had = nil
elseif had then
    call('DEL', KEYS[3])
end
if had and call('HDEL', lock, reads and owner or owner .. ':write') == 1 then
    code = -1
    if call('HLEN', lock) <= 1 then
        call('DEL', lock)
        word = reads and '0' or '1'
    else
        if not reads then
            call('HSET', lock, 'mode', 'read')
            word = '1'
        end
        -- This hold had set the lock's expiry: set it to the longest of the
        -- other holds, because waiters go by it.
        if had:sub(-1) == ' ' then
            local base = KEYS[2]:sub(1, -6)
            local most, there = -2, call('HGETALL', lock)
            for i = 1, #there, 2 do
                for n = 1, math.min(tonumber(there[i + 1]) or 0, 1000) do
                    most = math.max(most, call('PTTL', base .. there[i]
                        .. ':rwlock_timeout:' .. n))
                end
            end
            if most < 0 then
                call('DEL', lock)
                word = word or '0'
            elseif most < call('PTTL', lock) - 1500 then
                call('PEXPIRE', lock, most)
                word = word or '0'
            end
        end
    end
elseif call('EXISTS', lock) == 1 then
    code = -3
end
if arg[7] and arg[7]:find('q', 1, true) then
    local kept = call('HGET', KEYS[2] .. ':q', arg[2] .. owner)
    if kept and kept:match('%d+$') == mark:match('(%d+) $') then
        call('HDEL', KEYS[2] .. ':q', arg[2] .. owner)
        call('ZREM', KEYS[2] .. ':' .. arg[2], owner)
        word = '1'
    end
end
local number = tonumber(t)
local old = number > 0
    and redis.pcall('SET', KEYS[2], t, 'PX', arg[6], 'GET')
local higher = old and type(old) == 'string' and (tonumber(old) or 1 / 0)
if higher and higher > number then
    local is_queue = old:find('^q%d+ $')
    if is_queue or higher < 1 / 0 then
        -- Keep a higher floor, and the letter if there is still a queue.
        local first = is_queue and call('EXISTS', KEYS[2] .. ':q') == 1
        old = string.format(first and 'q%.0f ' or '%.0f ',
            math.max(number, tonumber(old:match('%d+'))))
        redis.pcall('SET', KEYS[2], old, 'PX', arg[6])
    else
        redis.pcall('SET', KEYS[2], old)
    end
end
if word then
--@include publish
    local told = publish(arg[7] and arg[7]:find('s', 1, true) and arg[7],
        arg[5], word)
    if code == -1 and type(told) == 'number' then
        code = told
    end
end
return code
