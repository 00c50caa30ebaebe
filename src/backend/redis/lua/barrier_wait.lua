-- barrier_wait.lua: come to a barrier, or ask whether all are there.
-- KEYS[1] barrier: HASH {barrier: "v2 <parties> <last number>"}
--      KEYS[2] parties that wait: ZSET owner -> end of its lease in ms
--      KEYS[3] that passed: ZSET owner -> number: its generation + its index.
--      A generation is this clock in us, rounded down to a multiple of its
--      parties, or the next multiple above the last number if that is later
--      KEYS[4] that left: ZSET owner -> number of its leaving
-- ARGV owner, parties, when this wait was last answered in us of this server
--      (0: never), T, window us, lease ms, for how many ms KEYS[3] is kept,
--      life ms of the barrier, channel; 10th, letters: s the messages are
--      sharded; q it stays
-- returns {1 all are there | 0 not yet | -1 stale | -3 no barrier | -5 others
--      wait for another number of parties | -6 forgotten, number, now us}:
--      1: as in KEYS[3]; 0: how many are missing; -1: the counter; -5: theirs
local call, pcall, arg = redis.call, redis.pcall, ARGV
local name, waiting, passed, owner = KEYS[1], KEYS[2], KEYS[3], ARGV[1]
local parties, seen, t = tonumber(arg[2]), tonumber(arg[3]), tonumber(arg[4])
local kept, letters = tonumber(arg[7]), arg[10] or ''
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local ms = math.floor(now / 1000)
local function text(number)
    return string.format('%.0f', number)
end
local facts = pcall('HGET', name, 'barrier')
if type(facts) == 'table' then
    return facts.err:find('WRONGTYPE', 1, true) and {-3, 0, now} or facts
end
local needs, last
if facts then
    needs, last = facts:match('^v2 (%d+) (%d+)$')
    needs, last = tonumber(needs), tonumber(last)
end
if not needs and (facts or call('EXISTS', name) == 1) then
    return {-3, 0, now}
end
local number = call('ZSCORE', passed, owner)
if number then
    return {1, tonumber(number), now}
end
local left = tonumber(call('ZSCORE', KEYS[4], owner) or 0)
if t <= left or t < now - arg[5] then
    return {-1, left, now}
end
-- This party waited before, but its record is gone: the others may have passed
-- with it, or the data was lost.
if seen > 0 and (not needs
    or seen < now - kept * 1000 and last >= seen) then
    return {-6, 0, now}
end
local others = call('ZCOUNT', waiting, text(ms), '+inf')
if others == 0 then
    needs = parties
elseif needs ~= parties then
    return {-5, needs or 0, now}
end
local own = tonumber(call('ZSCORE', waiting, owner) or 0)
if own >= ms then
    others = others - 1
end
-- Set the expiry of a key, or delete the key: none may stay for ever.
local function ends(key, life)
    local r = pcall('PEXPIRE', key, life)
    if type(r) == 'table' then
        pcall('DEL', key)
        return r
    end
end
local refused
if others + 1 >= parties then
    last = last or 0
    local generation = math.max(last - last % parties + parties,
        now - now % parties)
    local went = {}
    for _, other in ipairs(call('ZRANGEBYSCORE', waiting, text(ms), '+inf')) do
        if other ~= owner then
            went[#went + 1] = text(generation + #went / 2)
            went[#went + 1] = other
        end
    end
    number = generation + #went / 2
    last = generation + parties - 1
    went[#went + 1] = text(number)
    went[#went + 1] = owner
    -- Free memory first: a server whose memory is full accepts nothing else.
    call('DEL', waiting)
    call('ZREMRANGEBYSCORE', passed, '-inf', '(' .. text(now - kept * 1000))
    call('ZADD', passed, unpack(went))
    refused = ends(passed, kept)
elseif letters:find('q', 1, true) then
    call('ZADD', waiting, text(ms + arg[6]), owner)
    call('ZREMRANGEBYSCORE', waiting, '-inf', '(' .. text(ms))
    refused = ends(waiting, arg[6])
end
if refused then
    return refused
end
call('HSET', name, 'barrier', 'v2 ' .. arg[2] .. ' ' .. text(last or 0))
refused = ends(name, arg[8])
if refused then
    return refused
end
if not number then
    return {0, parties - call('ZCARD', waiting), now}
end
if parties > 1 then
    pcall(letters:find('s', 1, true) and 'SPUBLISH' or 'PUBLISH', arg[9],
        text(last - parties + 1))
end
return {1, number, now}
