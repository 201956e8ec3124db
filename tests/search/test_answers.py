import threading

from search.answers import AnswerCache


def test_an_answer_is_found_until_the_room_is_needed():
    cache = AnswerCache(100_000)
    for number in range(100):
        cache.put(("q", number), b"x" * 9_000)
        assert cache.size <= 100_000
    assert cache.get(("q", 99)) == b"x" * 9_000
    assert cache.get(("q", 0)) is None


def test_the_least_recently_used_answer_goes_first():
    cache = AnswerCache(100_000)
    for number in range(9):
        cache.put(number, b"x" * 9_000)
    assert cache.get(0) is not None
    for number in range(9, 12):
        cache.put(number, b"x" * 9_000)
    assert cache.get(0) is not None
    assert cache.get(1) is None


def test_an_answer_kept_twice_is_counted_once():
    cache = AnswerCache(100_000)
    for _ in range(50):
        cache.put("q", b"x" * 5_000)
    assert len(cache) == 1 and cache.size < 7_000


def test_a_large_answer_is_not_kept_and_no_room_keeps_nothing():
    cache = AnswerCache(10_000)
    cache.put("q", b"x" * 5_000)
    assert cache.get("q") is None
    nothing = AnswerCache(0)
    nothing.put("q", b"")
    assert nothing.get("q") is None


def test_threads_may_share_it():
    cache = AnswerCache(1 << 20)

    def work(name: int) -> None:
        for number in range(500):
            cache.put((name, number % 50), b"x" * 500)
            cache.get((name, number % 50))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert cache.size == sum(len(cache.get(k) or b"") + 1024 for k in list(cache._kept))
