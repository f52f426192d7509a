<?php
// Reads the arguments object from standard input, calls main of the script and stores its result.
(function (string $file): void {
    $folder = getcwd();
    $fail = function (Throwable $error) use ($folder): never {
        $place = $error->getFile() . ':' . $error->getLine();
        file_put_contents("$folder/error.json", json_encode([
            'name' => get_class($error),
            'message' => ($error instanceof ParseError ? "$place: " : '') . $error->getMessage(),
            'stack' => "$place\n" . $error->getTraceAsString(),
        ], JSON_INVALID_UTF8_SUBSTITUTE));
        exit(1);
    };
    $convert = function (mixed $value, ?ReflectionType $type) use (&$convert): mixed {
        if (!is_object($value) || !$type instanceof ReflectionNamedType) return $value;
        $name = $type->getName();
        if ($name === 'array' || $name === 'iterable') return json_decode(json_encode($value), true);
        if ($type->isBuiltin() || !class_exists($name) || $name === 'stdClass') return $value;
        $object = (new ReflectionClass($name))->newInstanceWithoutConstructor();
        foreach (get_object_vars($value) as $key => $each) $object->$key = $each;
        return $object;
    };
    try {
        $given = json_decode(stream_get_contents(STDIN), false, 512, JSON_THROW_ON_ERROR);
        $packages = dirname($file) . '/vendor/autoload.php';
        if (is_file($packages)) require $packages;
        require $file;
        $arguments = [];
        foreach ((new ReflectionFunction('main'))->getParameters() as $parameter) {
            $name = $parameter->getName();
            if (property_exists($given, $name)) {
                $arguments[$name] = $convert($given->$name, $parameter->getType());
            } elseif (!$parameter->isDefaultValueAvailable() && $parameter->allowsNull()) {
                $arguments[$name] = null;
            }
        }
        $result = main(...$arguments);
        $flags = JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_PRESERVE_ZERO_FRACTION;
        file_put_contents("$folder/result.json", json_encode($result, $flags));
    } catch (Throwable $error) {
        $fail($error);
    }
})($argv[1]);
