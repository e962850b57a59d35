"""What runs inside the server, so that a change of many sums is one step and one round trip.

Keys, after the prefix `toolbreaker:{NAMESPACE}:`, which keeps a namespace on one node of a cluster:

    agents              sorted set: agents by when they were heard of last
    agent:NAME          hash: parent, kind, started_by, ordinal, turns, turn, session, family, requests, tools, running
    turn:NAME           sorted set: agents by the tokens they spent of this root's turn
    family:NAME         sorted set: agents by the tokens they spent of this family
    workflows:NAME      hash: how many agents each of its workflow calls started
    children:NAME       hash: the agents below it that run, with their last sign of life
    below:NAME          set: all agents it started
    marks:NAME          set: `warn BUDGET`, `pass QUOTA`
    requests:NAME       set: digests of the requests that were charged
    memory:NAME         what an agent remembers, of a process per event
    extra:NAME          what somebody beside the engine remembers of it
    denials             list: the last calls that were stopped, as JSON
    key                 what digests are keyed by
    ticket:TICKET       entries that were taken
"""

from __future__ import annotations

OF_AN_AGENT = ("agent", "turn", "family", "workflows", "children", "below", "marks", "requests", "memory", "extra")

_COMMON = """
local prefix = KEYS[1]
local clock = redis.call('TIME')
local now = string.format('%.6f', tonumber(clock[1]) + tonumber(clock[2]) / 1e6)

local function key(kind, name) return prefix .. kind .. ':' .. name end

local function parent_of(name)
  return redis.call('HGET', key('agent', name), 'parent')
end
"""

_FORGET = """
local function forget(name, kinds)
  local parent = parent_of(name)
  if parent then
    redis.call('SREM', key('below', parent), name)
    redis.call('HDEL', key('children', parent), name)
  end
  for _, kind in ipairs(kinds) do redis.call('DEL', key(kind, name)) end
  redis.call('ZREM', prefix .. 'agents', name)
end
"""

APPLY = (
    _COMMON
    + """
if redis.call('GET', prefix .. 'key') ~= ARGV[6] then return redis.error_reply('EMPTIED') end
local largest, spenders, kept_denials = ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local touched, order = {}, {}

local function capped(sum)
  return tonumber(sum) > tonumber(largest)
end

local function add(name, field, tokens)
  if capped(redis.call('HINCRBY', key('agent', name), field, tokens)) then
    redis.call('HSET', key('agent', name), field, largest)
  end
end

local function spend(kind, name, spender, tokens)
  if capped(redis.call('ZINCRBY', key(kind, name), tokens, spender)) then
    redis.call('ZADD', key(kind, name), largest, spender)
  end
end

-- One that has a parent keeps it, and a circle is not believed.
local function link(child, parent, kind, started_by)
  if child == parent or parent_of(child) then return false end
  local above, seen = parent, {}
  while above and not seen[above] do
    if above == child then return false end
    seen[above] = true
    above = parent_of(above)
  end
  local ordinal = 0
  if kind == 'workflow' then
    ordinal = redis.call('HINCRBY', key('workflows', parent), started_by or '', 1)
  end
  redis.call('HSET', key('agent', child), 'parent', parent, 'kind', kind, 'ordinal', ordinal)
  if started_by then redis.call('HSET', key('agent', child), 'started_by', started_by) end
  redis.call('SADD', key('below', parent), child)
  return true
end

-- The agent and everybody above it, nearest first; what is not known of them is learnt.
local function line_of(entry)
  local name = entry.agent
  for _, above in ipairs(entry.line) do
    if parent_of(name) or not link(name, above, 'subagent') then break end
    name = above
  end
  local line, seen = {}, {}
  name = entry.agent
  while name and not seen[name] do
    line[#line + 1] = name
    seen[name] = true
    name = parent_of(name)
  end
  return line
end

local post = {}

function post.charge(entry, line)
  local name, root = entry.agent, line[#line]
  if entry.key then
    local digest = string.sub(redis.sha1hex(redis.call('GET', prefix .. 'key') .. entry.key), 1, 24)
    if redis.call('SADD', key('requests', name), digest) == 0 then return end
  end
  redis.call('HINCRBY', key('agent', name), 'requests', 1)
  add(name, 'session', entry.amount)
  add(root, 'turn', entry.amount)
  spend('turn', root, name, entry.amount)
  for _, each in ipairs(line) do
    add(each, 'family', entry.amount)
    spend('family', each, name, entry.amount)
  end
end

function post.start(entry, line)
  redis.call('HSET', key('agent', entry.agent), 'running', 1)
  if not line[2] then return end
  if entry.at then
    redis.call('HSET', key('children', line[2]), entry.agent, entry.at)
  else
    redis.call('HSETNX', key('children', line[2]), entry.agent, '')
  end
end

post['end'] = function(entry, line)
  redis.call('HSET', key('agent', entry.agent), 'running', 0)
  if line[2] then redis.call('HDEL', key('children', line[2]), entry.agent) end
end

function post.turn(entry)
  redis.call('HINCRBY', key('agent', entry.agent), 'turns', 1)
  redis.call('HSET', key('agent', entry.agent), 'turn', 0)
  redis.call('DEL', key('turn', entry.agent), key('marks', entry.agent))
end

function post.tool(entry)
  redis.call('HINCRBY', key('agent', entry.agent), 'tools', entry.amount)
end

function post.warn(entry)
  redis.call('SADD', key('marks', entry.agent), entry.op .. ' ' .. entry.key)
end

post['pass'] = post.warn

function post.deny(entry)
  local denial = {at = entry.at or now, agent = entry.agent, code = entry.key, what = entry.kind}
  redis.call('LPUSH', prefix .. 'denials', cjson.encode(denial))
  redis.call('LTRIM', prefix .. 'denials', 0, kept_denials - 1)
end

local entries = cjson.decode(ARGV[1])
for _, entry in ipairs(entries) do
  if not post[entry.op] then return redis.error_reply('ERR unknown entry ' .. entry.op) end
end
local new = ARGV[2] == '' or redis.call('SET', prefix .. 'ticket:' .. ARGV[2], 1, 'NX', 'EX', 86400)
for _, entry in ipairs(entries) do
  if new and entry.op == 'start' and entry.line[1] then
    link(entry.agent, entry.line[1], entry.kind or 'subagent', entry.key)
  end
  local line = line_of(entry)
  for _, name in ipairs(line) do
    redis.call('ZADD', prefix .. 'agents', now, name)
    if not touched[name] then
      touched[name] = true
      order[#order + 1] = name
    end
  end
  if new then
    for depth = 2, entry.at and #line or 0 do  -- whoever waits for an agent that lives is alive as well
      if redis.call('HEXISTS', key('children', line[depth]), line[depth - 1]) == 1 then
        redis.call('HSET', key('children', line[depth]), line[depth - 1], entry.at)
      end
    end
    post[entry.op](entry, line)
  end
end

local function account(name)
  return {
    name,
    redis.call('HGETALL', key('agent', name)),
    redis.call('ZREVRANGE', key('turn', name), 0, spenders - 1, 'WITHSCORES'),
    redis.call('ZREVRANGE', key('family', name), 0, spenders - 1, 'WITHSCORES'),
    redis.call('HGETALL', key('workflows', name)),
    redis.call('HGETALL', key('children', name)),
    redis.call('SMEMBERS', key('marks', name)),
  }
end

local told = {}
for number, name in ipairs(order) do told[number] = account(name) end
return told
"""
)
"""Entries (JSON), a ticket or nothing, three numbers and the key in; the accounts of all who had a part in them out.

Where the key is another one, all was lost since it was made, and nothing is done.
"""

RESET = (
    _COMMON
    + _FORGET
    + """
local what, kinds, agent = ARGV[1], cjson.decode(ARGV[2]), ARGV[3]
local names = {}
if not agent then
  names = redis.call('ZRANGE', prefix .. 'agents', 0, -1)
elseif redis.call('ZSCORE', prefix .. 'agents', agent) then
  names = {agent}
  local seen = {[agent] = true}
  local at = 1
  while names[at] do
    for _, name in ipairs(redis.call('SMEMBERS', key('below', names[at]))) do
      if not seen[name] then
        seen[name] = true
        names[#names + 1] = name
      end
    end
    at = at + 1
  end
end
for _, name in ipairs(names) do
  if what == 'budget' then
    redis.call('HSET', key('agent', name), 'turn', 0, 'session', 0, 'family', 0)
    redis.call('DEL', key('turn', name), key('family', name))
    for _, mark in ipairs(redis.call('SMEMBERS', key('marks', name))) do
      if string.sub(mark, 1, 5) == 'warn ' then redis.call('SREM', key('marks', name), mark) end
    end
  else
    forget(name, kinds)
  end
end
return names
"""
)
"""`budget` or `all`, the kinds of keys an agent has, and an agent unless all are meant; the names of those it met."""

EXPIRE = (
    _COMMON
    + _FORGET
    + """
local kinds = cjson.decode(ARGV[2])
if not redis.call('SET', prefix .. 'expired', now, 'NX', 'EX', 86400) then return 0 end
-- A clock that was ahead for a while must not keep agents for as long as it was wrong.
for _, name in ipairs(redis.call('ZRANGEBYSCORE', prefix .. 'agents', '(' .. (now + 86400), '+inf')) do
  redis.call('ZADD', prefix .. 'agents', now, name)
end
local old = redis.call('ZRANGEBYSCORE', prefix .. 'agents', '-inf', '(' .. (now - ARGV[1]))
for _, name in ipairs(old) do forget(name, kinds) end
return #old
"""
)
"""Seconds of silence after which an agent is forgotten; how many were. At most once a day."""

UNLOCK = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"

COMMIT = """
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
for at = 2, #KEYS do redis.call('SET', KEYS[at], ARGV[at]) end
return redis.call('DEL', KEYS[1])
"""
"""A lock and its token, further keys and what to store in them; 0, and nothing stored, where the lock is another's."""
