-- permit_renew.lua: extend the permits of many acquires that are still out.
-- KEYS[2i-1] permits that are out  KEYS[2i] facts
-- ARGV[4i-3..4i] id, lease ms, permits, how the record of the grant begins that
--      is renewed ("": not compared): "v1 <owner> <attempt> <permits> <fence> "
-- returns {now us, per acquire: ttl ms before | -2 absent | -4 no semaphore}
local call, pcall = redis.call, redis.pcall
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local ms = math.floor(now / 1000)
local out = {now}
-- The shortest time left of all its permits; or -2.
local function left_of(key, ids)
    local left
    for i = 2, #ids, 2 do
        local ends = pcall('ZSCORE', key, ids[i])
        if type(ends) == 'table' then
            return ends
        end
        ends = ends and tonumber(ends) or 0
        if ends <= ms then
            return -2
        end
        left = math.min(left or ends, ends)
    end
    return math.min(left - ms, 9007199254740991)
end
-- Compare the record: an id has only a part of a ticket's attempt.
local function is_of(facts, id, record)
    local had = pcall('HGET', facts, id)
    return type(had) == 'string' and had:find(record, 1, true) == 1
end
for i = 1, #KEYS / 2 do
    local key, facts, at = KEYS[2 * i - 1], KEYS[2 * i], 4 * i
    local id, lease = ARGV[at - 3], tonumber(ARGV[at - 2])
    local ids, ends = {}, string.format('%.0f', ms + 1 + lease)
    for k = 0, ARGV[at - 1] - 1 do
        ids[2 * k + 1] = ends
        ids[2 * k + 2] = id .. string.char(math.floor(k / 256), k % 256)
    end
    local left = left_of(key, ids)
    if ARGV[at] ~= '' and type(left) ~= 'table' and left >= 0
        and not is_of(facts, id, ARGV[at]) then
        left = -2
    end
    if type(left) == 'table' then
        if not left.err:find('WRONGTYPE', 1, true) then
            return left
        end
        left = -4
    elseif left >= 0 then
        -- First what a full server takes: it refuses none of what follows it.
        local life = math.max(call('PTTL', facts), 1000 + lease)
        call('PEXPIRE', facts, string.format('%.0f', life))
        call('ZADD', key, 'XX', unpack(ids))
    end
    out[i + 1] = left
end
return out
