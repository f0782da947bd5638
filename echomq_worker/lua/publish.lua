-- Tell those who listen to a queue what has become of jobs, by the base wire's channel. Changes nothing; a
-- repeat is heard again.
--
--! keys root
--! args
--! rest events
--
-- Replies how many were told.

for at = events, #ARGV do redis.call('PUBLISH', root .. 'events', ARGV[at]) end
return #ARGV - events + 1
