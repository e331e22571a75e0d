# Two runs of a benchmark with lm-evaluation-harness: is the model's certainty true, and which is truer?
set -e
trueness assess logs/lm-eval/samples_ex_arc_2026*.jsonl
trueness assess logs/inspect/letters.eval --report letters.html
trueness compare logs/lm-eval/samples_ex_arc_2026*.jsonl logs/lm-eval/samples_ex_arc_dummy_2026*.jsonl
