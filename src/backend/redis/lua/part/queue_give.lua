-- queue_give.lua: a part of queue_acquire.lua and queue_release.lua.
-- KEYS by name: lock, counter, queue, records
-- ARGV by name: channel, how; and call, now, clock
-- returns give(least, released): grant a free lock to the first waiter that
--      asked within 3 s, for 1.5 s at most, or for its lease if it asked
--      within 10 ms before the holder's release; with a token above `least` and
--      the counter; the token, or nil, or nil and an error
local function give(least, released)
    while true do
        local first = call('ZPOPMIN', queue)
        local member = first[1]
        if not member or member == '' then
            if member then
                call('HDEL', records, '.')
            end
            return
        end
        local to, a, n, lease, asked, info =
            member:match('^(%S+) (%d+) (%d+) (%d+) (%d+) (.*)$')
        call('HDEL', records, to)
        if tonumber(asked) + 3000000 >= now then
            local fence, number = now, clock
            if now <= least or now < tonumber(n) then
                fence = math.max(tonumber(n), least + 1)
                number = string.format('%.0f', fence)
            end
            local old = redis.pcall('SET', counter, number, 'GET')
            local last = type(old) ~= 'table' and tonumber(old or 0)
            if last and last >= fence and last < 9007199254740991 then
                fence = last + 1
                number = string.format('%.0f', fence)
                call('SET', counter, number)
            elseif not last or last >= fence then
                if type(old) == 'string' then
                    call('SET', counter, old)
                end
                redis.pcall('ZADD', queue, first[2], member)
                redis.pcall('HSET', records, to, member)
                return nil, type(old) == 'table' and old or nil
            end
            -- A waiter that has asked just now is alive, and gets its whole
            -- lease.  Any other may be dead: it has to confirm the grant soon.
            if tonumber(lease) > 1500
                and not (released and tonumber(asked) + 10000 >= now) then
                lease = '1500'
            end
            call('HSET', lock, to, '1', 'hf', 'v1 ' .. to .. ' ' .. a .. ' '
                .. n .. ' +' .. number .. ' ' .. clock .. ' ' .. info)
            -- A lock that never expires must not stay.
            local r = redis.pcall('PEXPIRE', lock, lease)
            if r ~= 1 then
                redis.pcall('DEL', lock)
                return nil, r
            end
            redis.pcall(how:find('s', 1, true) and 'SPUBLISH' or 'PUBLISH',
                channel .. ':' .. to:match('^[^:]*'), to .. ' ' .. a .. ' '
                .. n .. ' ' .. number .. ' ' .. lease)
            return fence
        end
    end
end
