# Reads the arguments object from standard input, runs the script and stores the last value that it outputs.
param([string]$File)
$ErrorActionPreference = 'Stop'
$folder = (Get-Location).Path
try {
    $given = [Console]::In.ReadToEnd() | ConvertFrom-Json -AsHashtable
    $known = (Get-Command $File).Parameters.Keys
    $arguments = @{}
    foreach ($name in $given.Keys) { if ($known -contains $name) { $arguments[$name] = $given[$name] } }
    $output = @(& $File @arguments)
    if ($output.Count -gt 1) { $output[0..($output.Count - 2)] | Out-Host }
    $result = if ($output.Count -gt 0) { $output[-1] } else { $null }
    $json = if ($null -eq $result) { 'null' } else { ConvertTo-Json -InputObject $result -Depth 50 -Compress }
    [IO.File]::WriteAllText("$folder/result.json", $json)
} catch {
    $told = @{ name = $_.Exception.GetType().Name; message = $_.Exception.Message; stack = $_.ScriptStackTrace }
    [IO.File]::WriteAllText("$folder/error.json", (ConvertTo-Json -InputObject $told -Compress))
    exit 1
}
