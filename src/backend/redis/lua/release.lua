-- release.lua: give the lock back, and let no older proposal in.
-- KEYS[1] lock  KEYS[2] fence counter; absent: not without need of it
-- ARGV "v1 <owner> <attempt> <T> ", channel; 3rd: "h" count the waiters,
--      wake none; "s" the messages are sharded, "sb" and always go out both
--      ways; "h" before these: both; 4th: also if there is a queue
-- returns released: processes told, or -1 | -2 absent | -3 another owner's
--      | -5 released, but others have it too, in another layout
--      | error TRYAGAIN: the counter is needed
--      | -4 not released, because there is a queue: queue_release.lua
local call, lock, mark = redis.call, KEYS[1], ARGV[1]
local hf = call('HGET', lock, 'hf')
local code = -2
-- Granted under this very number: the counter is there already.
local simple = hf and hf:find(mark, 1, true) == 1
if not simple and not KEYS[2] then
    return {err = 'TRYAGAIN the fence counter is elsewhere'}
end
if simple or hf and hf:find(mark:match('^v1 %S+ %d+ '), 1, true) == 1 then
    -- A plus before the token, by which a waiter says that it waits.
    if (simple and hf:byte(#mark + 1) == 43
        or not simple and hf:find('^v1 %S+ %d+ %d+ %+')) and not ARGV[4] then
        return -4
    end
    -- Delete before any other write: a full server only accepts that.
    -- Other fields belong to a lock of another layout, which stays.
    local fields = redis.pcall('HLEN', lock)
    local shared = type(fields) == 'number' and fields > 2
    if shared then
        call('HDEL', lock, mark:match('^v1 (%S+)'), 'hf')
    else
        call('DEL', lock)
    end
    local how = ARGV[3]
    if not how or how == '' then
        code = redis.pcall('PUBLISH', ARGV[2], '0')
    else
--@include publish
        local sharded = how ~= 'h' and how
        code = how:byte(1) == 104 and listeners(sharded, ARGV[2])
            or publish(sharded, ARGV[2], '0')
    end
    if type(code) ~= 'number' then
        code = -1
    end
    code = shared and -5 or code
    if simple then
        return code
    end
elseif hf or call('EXISTS', lock) == 1 then
    code = -3
end
local text = mark:match('(%d+) $')
local t = tonumber(text)
local old = t > 0 and redis.pcall('GET', KEYS[2])
if t > 0 and type(old) ~= 'table' and (tonumber(old or 0) or t) < t then
    redis.pcall('SET', KEYS[2], text)
end
return code
