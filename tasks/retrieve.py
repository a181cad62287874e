"""Stage retrieve: the ranking of each question, and the context made from it. Two lists, never mixed."""

from collections.abc import Callable, Sequence
from functools import lru_cache

from schemas.passage import Passage, Range
from schemas.plan import Shard, StageCount
from schemas.saved import SavedAnswer, SavedPassage
from schemas.state import Reason
from schemas.trail import Trail
from tasks.index import document_chunks, index_key, open_or_build, range_of, stretch_of
from tasks.runs.run import Run, open_run
from tasks.search.bm25 import Hit
from tasks.search.locate import Locator
from tasks.search.neighbours import Stretch, with_neighbours
from tasks.stage import BLOCKED, Item, Making, Outcomes, Settled, counted, each, items_of, not_applicable, settle
from tasks.store.keys import digest, key, text_digest
from tasks.store.rows import Row
from tasks.text.tokens import count_tokens


def retrieve(shard: Shard) -> StageCount:
    """Rank and make contexts for a shard's questions; saved answers bring their own passages."""
    run = open_run(shard.workspace, shard.run_id)
    trails = run.begin(shard)
    items = items_of(run, shard, trails)
    settings = run.setup(shard.setup).setup
    makings = _imported(run, shard) if settings.answers is not None else _searched(run, shard)
    for making in makings:
        settle(run, items, making)
    run.save(shard, trails)
    return counted("retrieve", shard, items)


def _searched(run: Run, shard: Shard) -> list[Making]:
    setup = run.setup(shard.setup).setup
    index = index_key(run, setup)
    depth, settings = setup.retrieval.depth, setup.context

    def context_key(item: Item) -> str | Settled:
        ranking = item.trail.ranking
        if not ranking.scored:
            return BLOCKED
        k, neighbours = settings.k, settings.neighbours
        return key("context", ranking=ranking.key, k=k, neighbours=neighbours, cut_off=None, room=None)

    def rank(items: Sequence[Item]) -> Outcomes:
        opened = open_or_build(run, setup, index)
        return each(lambda item: _ranking_row(run, opened.search(item.question.text, depth=depth)), items)

    def give(items: Sequence[Item]) -> Outcomes:
        rankings = run.store.rows("ranking").fetch(item.trail.ranking.key or "" for item in items)
        tops = {
            item.question.question_id: rankings[item.trail.ranking.key or ""]["passages"][: settings.k]
            for item in items
        }
        if not settings.neighbours:
            return each(
                lambda item: _context_row([{**p, "score": None} for p in tops[item.question.question_id]]),
                items,
            )
        names = dict.fromkeys(passage["document_id"] for top in tops.values() for passage in top)
        chunks = {
            name: [stretch_of(name, chunk) for chunk in found]
            for name, found in document_chunks(run, setup, list(names)).items()
        }
        return each(lambda item: _widened(run, tops[item.question.question_id], chunks, settings.neighbours), items)

    return [
        Making(
            "ranking",
            lambda item: key("ranking", index=index, question=item.question.text, depth=depth),
            rank,
        ),
        Making(
            "context",
            context_key,
            give,
            _carry_context,
        ),
    ]


def _ranking_row(run: Run, hits: Sequence[Hit]) -> Row:
    passages = []
    for chunk, score in hits:
        document = run.plan.documents[chunk.document]
        passages.append(
            Passage(
                document_id=document.document_id,
                document_key=document.document_key,
                ranges=(range_of(chunk),),
                n_tokens=chunk.n_tokens,
                text_digest=chunk.text_digest,
                score=score,
            ).model_dump()
        )
    return {"passages": passages}


def _context_row(passages: Sequence[Row]) -> Row:
    return {
        "passages": list(passages),
        "n_tokens": sum(passage["n_tokens"] for passage in passages),
        "passages_digest": digest([passage["text_digest"] for passage in passages]),
    }


def _widened(run: Run, top: Sequence[Row], chunks: dict[str, list[Stretch]], neighbours: int) -> Row:
    ranked = [stretch_of(passage["document_id"], passage["ranges"][0]) for passage in top]
    stretches = with_neighbours(ranked, chunks, neighbours=neighbours)
    texts = run.texts.load(run.documents[stretch.document].document_key for stretch in stretches)
    passages = []
    for stretch in stretches:
        document = run.documents[stretch.document]
        text = texts[document.document_key][stretch.start : stretch.end]
        passages.append(
            Passage(
                document_id=document.document_id,
                document_key=document.document_key,
                ranges=(range_of(stretch),),
                n_tokens=count_tokens(text),
                text_digest=text_digest(text),
            ).model_dump()
        )
    return _context_row(passages)


def _carry_context(trail: Trail, row: Row) -> None:
    trail.passages_digest, trail.context_tokens = row["passages_digest"], row["n_tokens"]


def _imported(run: Run, shard: Shard) -> list[Making]:
    saved = run.saved(shard.setup)
    corpus = digest([document.document_key for document in run.plan.documents])

    def key_of(record: str, *, ranked: bool) -> Callable[[Item], str | Settled]:
        def make(item: Item) -> str | Settled:
            answer = saved[item.question.question_id]
            if answer.passages is None:
                return not_applicable(Reason.PASSAGES_NOT_RECORDED)
            if ranked and not all(passage.rank for passage in answer.passages):
                return not_applicable(Reason.NO_RANKING)
            given = [passage.model_dump() for passage in _ordered(answer, ranked=ranked)]
            return key(f"imported_{record}", passages=given, documents=corpus)

        return make

    def compute(items: Sequence[Item], *, ranked: bool) -> Outcomes:
        locator = _locator(run)

        def make(item: Item) -> Row:
            answer = saved[item.question.question_id]
            passages = [_found(run, locator, passage) for passage in _ordered(answer, ranked=ranked)]
            return {"passages": passages} if ranked else _context_row(passages)

        return each(make, items)

    return [
        Making("ranking", key_of("ranking", ranked=True), lambda items: compute(items, ranked=True), free=True),
        Making(
            "context",
            key_of("context", ranked=False),
            lambda items: compute(items, ranked=False),
            _carry_context,
            free=True,
        ),
    ]


def _ordered(answer: SavedAnswer, *, ranked: bool) -> list[SavedPassage]:
    passages = list(answer.passages or ())
    return sorted(passages, key=lambda passage: passage.rank or 0) if ranked else passages


@lru_cache(maxsize=1)
def _locator(run: Run) -> Locator:
    rows = run.store.rows("document").fetch(
        (document.document_key for document in run.plan.documents), ["document_id", "text"]
    )
    return Locator({row["document_id"]: row["text"] for row in rows.values()})


def _found(run: Run, locator: Locator, passage: SavedPassage) -> Row:
    place = locator.find(passage.text, document=passage.document)
    document_id = place.document if place else passage.document
    known = run.documents.get(document_id or "")
    ranges: tuple[Range, ...] = (place.range,) if place else ()
    return Passage(
        document_id=document_id,
        document_key=known.document_key if known else None,
        ranges=ranges,
        n_tokens=count_tokens(passage.text),
        text_digest=text_digest(passage.text),
        # As it was given: white space may differ from the document's, and the judge has to see what the writer saw.
        text=passage.text,
        foreign_id=passage.id,
    ).model_dump()
