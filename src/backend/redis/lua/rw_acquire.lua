-- rw_acquire.lua: let a holder read or write the lock, if it is his turn.
-- KEYS[1] lock  KEYS[2] fence counter  KEYS[3] floor: its name and more is that
--      of what else belongs to the lock
-- ARGV owner, "r" read | "w" write | "u" write, also as the only reader,
--      "v1 <owner> <attempt> <T> ", T, lease ms, "<pid> <host> <label>",
--      window us, life of a place ms; 9th, order: "F" fair, keep a place | "p"
--      writers first | "P" and keep a writer's place
-- returns granted: fence | {1 granted | 0 busy | -1 stale | -2 the counter is
--      no number | -3 no lock | -6 a lock of another kind, fence or floor,
--      now us, ttl ms, 1 a place is kept}
local call, lock, arg = redis.call, KEYS[1], ARGV
local owner, side, mark, text = arg[1], arg[2], arg[3], arg[4]
local reads, order = side == 'r', arg[9] or ''
local base = KEYS[3]:sub(1, -3)
local field = reads and owner or owner .. ':write'
local record = base .. field .. ':rwlock_timeout:1'
local has = call('HMGET', lock, 'mode', field, owner .. ':write')
local old = call('MGET', KEYS[3], record)
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local now_ms = math.floor(now / 1000)
local mode, mine, writes = has[1], has[2], has[3]
local t = tonumber(text)
if mode ~= 'read' and mode ~= 'write' then
    if mode then
        return {-3, 0, now, -1}
    end
    if call('EXISTS', lock) == 1 then
        local page = call('HSCAN', lock, 0, 'COUNT', 16)[2]
        for i = 1, #page, 2 do
            if page[i] ~= 'hf'
                and not (page[i]:find('^[%x-]+:.') and tonumber(page[i + 1])) then
                return {-3, 0, now, -1}
            end
        end
        return {-6, 0, now, -1}
    end
end
-- What this holder has, unless its lease is over or it was taken away.
local had = mine and old[2]
if had and had:find(mark, 1, true) == 1 then
    return {1, tonumber(had:match('^%d+', #mark + 1)), now, -1}
end
local floor = tonumber((old[1] or ''):match('^v1 (%d+)$')) or 0
local attempt = mark:match('^v1 %S+ (%d+) ')
if not (t > floor) or t < now - arg[7]
    or had and tonumber(had:match('^v1 %S+ (%d+) ')) > tonumber(attempt) then
    return {-1, floor, now, -1}
end
-- How long the holds of one field last at most; below 0: it is dead.
local function field_left(name, count)
    local most = -2
    for i = 1, math.min(tonumber(count), 1000) do
        most = math.max(most,
            call('PTTL', base .. name .. ':rwlock_timeout:' .. i))
    end
    return most
end
-- Take off who is dead; what is left of those that keep this holder out.  A
-- writer of Redisson's has no record: he lasts as long as the lock.  One of
-- ours without a record is dead, and his read hold shows that he is ours.
local function others_left()
    local most, there = -1, call('HGETALL', lock)
    local count_of, living = {}, 0
    for i = 1, #there, 2 do
        count_of[there[i]] = there[i + 1]
    end
    for name, count in pairs(count_of) do
        local by = name:match('^(.*):write$')
        local left = name ~= 'mode' and field_left(name, count) or 0
        if by and left < 0 then
            local reader = call('GET', base .. by .. ':rwlock_timeout:1') or ''
            if not (count_of[by] and reader:find('^v1 ')) then
                left = math.max(call('PTTL', lock), 0)
            end
        end
        if name ~= 'mode' and left < 0 then
            call('HDEL', lock, name)
            if by then
                call('HSET', lock, 'mode', 'read')
                mode = 'read'
            end
        elseif name ~= 'mode' then
            living = living + 1
            if (by or name) ~= owner and (by or not reads)
                or name == owner and side == 'w' then
                most = math.max(most, left)
            end
        end
    end
    if living == 0 then
        call('DEL', lock)
        mode = false
    end
    return most
end
-- -1: nobody keeps him out.
local left = -1
if mode and not (reads and (mode == 'read' or writes)
    or not reads and mode == 'write' and mine) then
    left = others_left()
end
local places = KEYS[3] .. ':q'
local function place_drop(kind, name)
    call('ZREM', KEYS[3] .. ':' .. kind, name)
    call('HDEL', places, kind .. name)
end
-- Who is first in one queue: his name, when he came, until when it counts.
local function first_of(kind)
    while true do
        local first = call('ZRANGE', KEYS[3] .. ':' .. kind, 0, 0, 'WITHSCORES')
        if not first[1] then
            return
        end
        local kept = call('HGET', places, kind .. first[1]) or ''
        local ends = tonumber(kept:match('^%d+')) or 0
        if ends >= now_ms then
            return first[1], tonumber(first[2]), ends
        end
        place_drop(kind, first[1])
    end
end
local kind, came, turn = reads and 'r' or 'w', nil, -1
local is_queue = call('EXISTS', places) == 1
if is_queue then
    local kept = call('HGET', places, kind .. owner)
    if kept and tonumber(kept:match('^%d+')) < now_ms then
        place_drop(kind, owner)
        kept = nil
    end
    came = kept and tonumber(call('ZSCORE', KEYS[3] .. ':' .. kind, owner))
    local w, w_came, w_ends = first_of('w')
    local r, r_came, r_ends = first_of('r')
    if reads and w and not (order == 'F' and came and came < w_came) then
        turn = w_ends - now_ms
    elseif not reads and w and w ~= owner then
        turn = w_ends - now_ms
    end
    if not reads and r and order:lower() ~= 'p'
        and not (came and came <= r_came) then
        turn = turn < 0 and r_ends - now_ms or math.min(turn, r_ends - now_ms)
    end
    -- Who has it already waits for nobody.
    if side == 'u' or mode == 'write' and writes then
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
    local life = tonumber(arg[8])
    call('HSET', places, kind .. owner,
        string.format('%.0f %s', now_ms + life, attempt))
    if not came then
        call('ZADD', KEYS[3] .. ':' .. kind, string.format('%.0f', now), owner)
    end
    call('PEXPIRE', places, life)
    call('PEXPIRE', KEYS[3] .. ':r', life)
    call('PEXPIRE', KEYS[3] .. ':w', life)
    return {0, 0, now, left, 1}
end
-- He has it, unless one of these is refused: then everything is as before.
local is_new = not mode
local fence = t < now and now or t
local seconds, micros = time[1], time[2]
local clock = #micros == 6 and seconds .. micros or string.format('%.0f', now)
local failed
local function try(...)
    local answer = not failed and redis.pcall(...) or nil
    if type(answer) == 'table' and answer.err then
        failed = answer
    end
    return answer
end
local function undo()
    redis.pcall('DEL', record)
    if is_new then
        redis.pcall('DEL', lock)
        return
    end
    redis.pcall('HDEL', lock, field)
    if mode == 'read' and not reads then
        redis.pcall('HSET', lock, 'mode', 'read')
    end
end
local before = is_new and -2 or call('PTTL', lock)
if is_new or not reads then
    try('HSET', lock, 'mode', reads and 'read' or 'write', field, '1')
else
    try('HSET', lock, field, '1')
end
try('SET', record, mark .. (t < now and clock or text) .. ' ' .. clock .. ' '
    .. arg[6], 'PX', arg[5])
if before < tonumber(arg[5]) then
    try('PEXPIRE', lock, arg[5])
end
local seen = try('SET', KEYS[2], t < now and clock or text, 'GET')
if failed then
    undo()
    return failed
end
if seen then
    local n = tonumber(seen)
    if not (n and n < 9007199254740990) then
        call('SET', KEYS[2], seen)
        undo()
        return {-2, 0, now, -1}
    end
    if n >= fence then
        fence = n + 1
        local higher = string.format('%.0f', fence)
        call('SET', KEYS[2], higher)
        call('SET', record, mark .. higher .. ' ' .. clock .. ' ' .. arg[6],
            'PX', arg[5])
    end
end
if came then
    place_drop(kind, owner)
end
if seen and tonumber(seen) >= fence - 1 then
    return {1, fence, now, -1}
end
return fence
