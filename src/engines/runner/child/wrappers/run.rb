# Reads the arguments object from standard input, calls main of the script and stores its result.
require "json"

$stdout.sync = true
folder = Dir.pwd
script = ARGV.shift

# The gems of a block `gemfile` were installed when the script was deployed: here it only loads them.
$LOADED_FEATURES.push("bundler/inline.rb", "windmill/inline.rb")
class InstalledGems
  def initialize(folder)
    setup = File.join(folder, "bundler", "setup.rb")
    require setup if File.exist?(setup)
  end

  def gem(name, *, require: true, **)
    return Array(require || []).each { |file| Kernel.require file } unless require == true
    [name, name.tr("-", "/")].uniq.each do |file|
      return Kernel.require file
    rescue LoadError => error
      raise unless error.path == file
    end
  end

  def method_missing(*, **, &block) = block && instance_eval(&block)
  def respond_to_missing?(*) = true
end
define_method(:gemfile) do |*, **, &block|
  InstalledGems.new(File.join(File.dirname(script), "bundle")).instance_eval(&block)
end

begin
  given = JSON.parse($stdin.read)
  load script
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
