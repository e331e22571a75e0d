"""What is concluded: each answer is computed when it is made and is plain data from then on.

`result` is what all answers share, `class_results` and `verdict` make the words of an assessment,
`assessment` computes it, and `assessment_details` lists its numbers.
"""
