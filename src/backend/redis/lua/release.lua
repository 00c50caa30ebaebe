-- release.lua: give the lock back, and let no older proposal in.
-- KEYS[1] lock  KEYS[2] fence counter
-- ARGV owner, "v1 <attempt> ", T, channel
-- returns released: processes told, or -1 | -2 absent | -3 somebody else's
local call, lock, arg = redis.call, KEYS[1], ARGV
local mark = arg[2]
local has = call('HMGET', lock, arg[1], 'hf')
local hf, code = has[1] and has[2] or '', -2
if hf:sub(1, #mark) == mark then
    -- Before any other write: a full server only takes what frees memory.
    call('DEL', lock)
    code = redis.pcall('PUBLISH', arg[4], '0')
    if type(code) ~= 'number' then
        code = -1
    end
    -- Granted under this very number: the counter is there already.
    if hf:find(arg[3] .. ' ', #mark + 1, true) == #mark + 1 then
        return code
    end
elseif has[1] or has[2] or call('EXISTS', lock) == 1 then
    code = -3
end
local t = tonumber(arg[3])
local old = t > 0 and redis.pcall('GET', KEYS[2])
if t > 0 and type(old) ~= 'table' and (tonumber(old or 0) or t) < t then
    redis.pcall('SET', KEYS[2], arg[3])
end
return code
