-- string_release.lua: give a string back, and let no older proposal in.
-- KEYS[1] lock  KEYS[2] fence counter; absent: the lock has none
-- ARGV "hf1:<owner>:<attempt>:<T>:", channel; 3rd: "k" not if the counter is
--      needed; "s" the messages are sharded, "sb" and always go out both ways;
--      "k" before these: both
-- returns released: processes told, or -1 | -2 absent | -3 another owner's
--      | error TRYAGAIN: the counter is needed
local has = redis.call('GET', KEYS[1])
-- Granted under this very number: the counter is there already.
local simple = has and has:find(ARGV[1], 1, true) == 1
local how = ARGV[3] or ''
if not simple and how:find('k', 1, true) then
    return {err = 'TRYAGAIN the fence counter is elsewhere'}
end
local code = has and -3 or -2
if simple
    or has and has:find(ARGV[1]:match('^(.*:)%d+:$'), 1, true) == 1 then
    -- Delete before any other write: a full server only accepts that.
    redis.call('DEL', KEYS[1])
--@include publish
    code = publish(how:find('s', 1, true) and how, ARGV[2], '0')
    if type(code) ~= 'number' then
        code = -1
    end
    if simple then
        return code
    end
end
local text = ARGV[1]:match('(%d+):$')
local t = KEYS[2] and tonumber(text) or 0
local old = t > 0 and redis.pcall('GET', KEYS[2])
if t > 0 and type(old) ~= 'table' and (tonumber(old or 0) or t) < t then
    redis.pcall('SET', KEYS[2], text)
end
return code
