-- rw_release.lua: give one hold of a read/write lock back, and let no older
--      proposal in.
-- KEYS[1] lock  KEYS[2] floor: its name and more is that of what else belongs
--      to the lock
-- ARGV owner, "r" | "w", "v1 <owner> <attempt> <T> ", channel, life of the floor
--      ms; 6th, letters: s the messages are sharded; q give up his place, too
-- returns released: processes told, or -1 | -2 absent | -3 somebody else's
local call, lock, arg = redis.call, KEYS[1], ARGV
local owner, side, mark = arg[1], arg[2], arg[3]
local how = arg[6] or ''
local base = KEYS[2]:sub(1, -3)
local field = side == 'r' and owner or owner .. ':write'
local record = base .. field .. ':rwlock_timeout:1'
local attempt = tonumber(mark:match('^v1 %S+ (%d+) '))
local code, word = -2, nil
-- The longest that those who are left have; below 0: they are dead.
local function others_left()
    local most, there = -2, call('HGETALL', lock)
    for i = 1, #there, 2 do
        for n = 1, math.min(tonumber(there[i + 1]) or 0, 1000) do
            most = math.max(most,
                call('PTTL', base .. there[i] .. ':rwlock_timeout:' .. n))
        end
    end
    return most
end
local had = call('GET', record)
if had and had:find(mark:match('^v1 %S+ %d+ '), 1, true) == 1 then
    -- Before any other write: a full server only takes what frees memory.
    local was = call('PTTL', record)
    local is_there = call('HDEL', lock, field) == 1
    call('DEL', record)
    code = is_there and -1 or call('EXISTS', lock) == 1 and -3 or -2
    if is_there then
        local len = call('HLEN', lock)
        if len <= 1 then
            call('DEL', lock)
            word = side == 'r' and '0' or '1'
        else
            if side == 'w' then
                call('HSET', lock, 'mode', 'read')
                word = '1'
            end
            -- Who waits for readers goes by the lock's own end.
            local all = call('PTTL', lock)
            if was >= all - 1 then
                local left = others_left()
                word = word or '0'
                if left >= 0 then
                    call('PEXPIRE', lock, left)
                else
                    call('DEL', lock)
                end
            end
        end
    end
elseif call('EXISTS', lock) == 1 then
    code = -3
end
if how:find('q', 1, true) then
    local kept = call('HGET', KEYS[2] .. ':q', side .. owner)
    if kept and tonumber(kept:match('(%d+)$')) <= attempt then
        call('HDEL', KEYS[2] .. ':q', side .. owner)
        call('ZREM', KEYS[2] .. ':' .. side, owner)
        word = '1'
    end
end
local t = mark:match('(%d+) $')
local old = tonumber(t) > 0
    and redis.pcall('SET', KEYS[2], 'v1 ' .. t, 'PX', arg[5], 'GET')
local higher = type(old) == 'string' and tonumber(old:match('^v1 (%d+)$'))
if higher and higher > tonumber(t) then
    redis.pcall('SET', KEYS[2], old, 'PX', arg[5])
elseif type(old) == 'string' and not higher then
    redis.pcall('SET', KEYS[2], old)
end
if word then
    local publish = how:find('s', 1, true) and 'SPUBLISH' or 'PUBLISH'
    local told = redis.pcall(publish, arg[4], word)
    if code == -1 and type(told) == 'number' then
        code = told
    end
end
return code
