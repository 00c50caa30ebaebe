/*
 * guard/lua.c: the guard of any script.  One rule: what the user's script does
 * comes behind the check, in the same call, and finds KEYS and ARGV as if the
 * check were not there.
 */
#include "holdfast/guard.h"

const char *hf_guard_lua(void)
{
    /* Tokens are beyond what a Lua number can hold: compared as text. */
    return "-- holdfast guard: the last of KEYS is the guard, the last of ARGV "
           "the token\n"
           "do\n"
           "    local guard, token = table.remove(KEYS), table.remove(ARGV)\n"
           "    local most = '9223372036854775807'\n"
           "    local function above(a, b)\n"
           "        if #a ~= #b then return #a > #b end\n"
           "        return a > b\n"
           "    end\n"
           "    if not guard or not token or not token:find('^[1-9]%d*$')\n"
           "            or above(token, most) then\n"
           "        return redis.error_reply('ERR holdfast guard: the last '\n"
           "            .. 'of KEYS is its key, the last of ARGV a token '\n"
           "            .. 'from 1 to 2^63-1')\n"
           "    end\n"
           "    local seen = redis.call('GET', guard) or '0'\n"
           "    if seen ~= '0' and (not seen:find('^[1-9]%d*$')\n"
           "            or above(seen, most)) then\n"
           "        return redis.error_reply('ERR holdfast guard: its key '\n"
           "            .. 'holds no token')\n"
           "    end\n"
           "    if above(seen, token) then\n"
           "        return redis.error_reply('STALE ' .. token .. ' ' .. seen)"
           "\n"
           "    end\n"
           "    if seen ~= token then redis.call('SET', guard, token) end\n"
           "end\n";
}
