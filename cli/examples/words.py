# Python: annotations and defaults become the schema, what main returns is the result.
from collections import Counter


def main(text: str, most: int = 3):
    words = [word.strip(".,!?").lower() for word in text.split()]
    print(f"{len(words)} words")
    return Counter(words).most_common(most)
