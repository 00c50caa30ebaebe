-- inspect.lua: tell about one lock; changes nothing.
-- KEYS[1] lock  KEYS[2] fence counter; absent: the lock has none
--      KEYS[3] queue  KEYS[4] records of the waiters; absent: there is none
-- ARGV owner, "<owner>:write" if it asks as a writer; channel, channel of a
--      read/write lock, "{name}:"; 5th: they are sharded
-- returns {"hash" | "string" | "none" | what else is there, ttl ms, now us,
--      counter, subscribers or -1, owner's count, hf, mode,
--      first field and its count | the string, readers, waiters, owner's
--      place or 0, of a holder of a read/write lock: its record, its ttl ms}
local call = redis.call
local time = call('TIME')
local kind = call('TYPE', KEYS[1]).ok
--@include publish
local waiting = listeners(ARGV[5], ARGV[2])
local fence = KEYS[2] and redis.pcall('GET', KEYS[2])
local queue = KEYS[3]
local member = queue and call('HGET', KEYS[4], ARGV[1])
local place = member and call('ZRANK', queue, member)
local out = {kind, call('PTTL', KEYS[1]), time[1] * 1000000 + time[2],
    type(fence) == 'string' and tonumber(fence) or 0,
    waiting < 0 and -1 or waiting + math.max(listeners(ARGV[5], ARGV[3]), 0),
    false, false, false, false, false,
    0, queue and call('ZCOUNT', queue, '-inf', '(+inf') or 0,
    place and place + 1 or 0, false, -1}
local base = ARGV[4]
-- The record of a hold of a read/write lock is in the string that expires with
-- it; without that, and without one of Redisson's, the hold is over.
local function record_of(field, count)
    local text = redis.pcall('GET', base .. field .. ':rwlock_timeout:1')
    for i = 2, text and 1 or math.min(tonumber(count) or 0, 1000) do
        text = text or redis.pcall('GET',
            base .. field .. ':rwlock_timeout:' .. i)
    end
    return type(text) == 'string' and text
end
local function tell_field(field, count)
    local text = out[8] and record_of(field, count)
    local writes = out[8] and field:find(':write$')
    if out[8] and not writes then
        if not text then
            return
        end
        out[11] = out[11] + 1
    end
    if writes or not out[9] then
        out[9], out[10] = field:sub(1, 127), count
        if out[8] then
            out[7] = text and text:find('^v1 ')
                and text:sub(1, 512):gsub(' $', '') or false
        end
    end
end
if kind == 'hash' then
    local has = call('HMGET', KEYS[1], ARGV[1], 'hf', 'mode')
    out[7], out[8] = has[2] and has[2]:sub(1, 512), has[3]
    out[6] = not has[3] and has[1]
    local page = call('HSCAN', KEYS[1], 0, 'COUNT', 16)[2]
    for i = 1, #page, 2 do
        local field, count = page[i], page[i + 1]
        if field ~= 'hf' and field ~= 'mode' then
            if not field:find('^[%x-]+:.') or not tonumber(count) then
                out[1] = 'hash that is no lock'
                break
            end
            tell_field(field, count)
        end
    end
    if has[3] then
        out[11] = out[11] + math.max(call('HLEN', KEYS[1]) - #page / 2, 0)
        local own = has[1] and record_of(ARGV[1], has[1])
        if own then
            out[6], out[14] = has[1], own:sub(1, 512)
            out[15] = call('PTTL', base .. ARGV[1] .. ':rwlock_timeout:1')
        end
    end
    -- All holders that the hash names are gone.
    if (has[3] == 'read' or has[3] == 'write') and not out[9]
        and out[1] == 'hash' then
        out[1], out[2] = 'none', -2
    end
elseif kind == 'string' then
    out[9] = call('GETRANGE', KEYS[1], 0, 511)
end
local places = redis.pcall('HGETALL', base .. 'hf_rw:q')
local own = ARGV[1]:match('^(.*):write$')
local side, name = own and 'w' or 'r', own or ARGV[1]
local came = redis.pcall('ZSCORE', base .. 'hf_rw:' .. side, name)
for i = 1, #places, 2 do
    if tonumber(places[i + 1]:match('^%d+')) >= out[3] / 1000 then
        out[12] = out[12] + 1
        local other = redis.pcall('ZSCORE',
            base .. 'hf_rw:' .. places[i]:sub(1, 1), places[i]:sub(2))
        if type(came) == 'string' and type(other) == 'string'
            and tonumber(other) <= tonumber(came) then
            out[13] = out[13] + 1
        end
    end
end
return out
