# Reads the arguments object from standard input, calls main of the script and stores its result.
require "json"

$stdout.sync = true
folder = Dir.pwd
begin
  given = JSON.parse($stdin.read)
  load ARGV.shift
  positional = []
  named = {}
  method(:main).parameters.each do |kind, name|
    key = name.to_s
    case kind
    when :req then positional << given[key]
    when :opt then given.key?(key) ? positional << given[key] : (break)
    end
  end
  method(:main).parameters.each do |kind, name|
    key = name.to_s
    named[name] = given[key] if kind == :keyreq || (kind == :key && given.key?(key))
  end
  result = main(*positional, **named)
  File.write(File.join(folder, "result.json"), JSON.generate(result))
rescue Exception => error
  raise if error.is_a?(SystemExit) && error.success?
  stack = (error.backtrace || []).reject { |line| line.start_with?(__FILE__) }
  told = { name: error.class.name, message: error.message, stack: stack.join("\n") }
  File.write(File.join(folder, "error.json"), JSON.generate(told))
  exit!(1)
end
