"""Abbreviations and first words, by which a stop in the middle of a sentence is told from its end."""

from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Never the end of a sentence, whatever follows.
ABBREVIATIONS: Final = _words("""
    e.g i.e eg ie cf approx vs viz resp incl excl esp figs eqs refs vols pp sra srta dra z z.b d.h u.a s.o s.u
    i.d.r i.d bzw ca vgl evtl inkl exkl zzgl bspw sog p.ex p.ej
""")
# Nor these, when capitalised.
TITLES: Final = _words("""
    dr mr mrs ms prof hon capt sgt hr fr sr sra
""")
# The end of a sentence only when a new one plainly begins: names and days after them mostly do not begin one.
MAYBE_LAST: Final = _words("""
    a.m p.m u.s u.k u.n e.u u.s.a d.c inc ltd corp co bros ph.d m.d b.a m.a b.c a.d usw e.v gmbh fig eq ref sec
    ch chap vol ed tel ext sr jr st mt ft gen sen rep rev lt col dept univ est min max avg ggf
""")
# Not the end when a number follows.
BEFORE_NUMBER: Final = _words("""
    no nos nr p s art abs § item cap núm n str ziff seite
""")
# Words that begin a sentence when capitalised behind a stop.
STARTERS: Final = _words("""
    the this that these those it its if in on an a as at for from to by with without when where while we you
    your they there their he she his her i and but or so however then also after before because since although
    once next note see use set all any both each some many most more only other such no not yes please another
    first second finally additionally furthermore moreover therefore thus otherwise instead here what which who
    how why of our my der die das es ein eine im am und aber wenn sie er wir bei für mit le la les il elle un
    une et mais si el los en y
""")
# "Plan B. Then" ends a sentence, "J. Rowling" does not.
LETTERED: Final = _words("""
    plan option vitamin type class group step appendix section grade hepatitis part tier zone level phase table
    figure team version variant column row answer and or than
""")
