------------------------------- MODULE IncrFence -------------------------------
(* The obvious protocol: per-node counter, INCR on grant, T = max of a granted  *)
(* quorum, optional 2nd round (SETMAX while still owner).  No clocks at all:    *)
(* a lock key may vanish at any moment (Expire), clients may stop for ever,     *)
(* every message may be delayed for ever (= lost) and, if Redeliver, repeated.  *)
(*                                                                              *)
(* Rule = "noround2" : token = max(granted), one round only                     *)
(*        "geq"      : 2nd round, node acks when owner matches and ctr >= T     *)
(*        "geqG"     : like geq, but only nodes whose grant was counted in T    *)
(*                     may ack (the strictest reading)                          *)
(*        "exact"    : 2nd round, node acks when owner matches and ctr =  T     *)
(*        "median"   : like exact, but if ALL nodes granted take the median in  *)
(*                     one round (majority has ctr>=T, and T>=max of a majority)*)
EXTENDS Naturals, FiniteSets, TLC
CONSTANTS Nodes, Att, None, MaxC, Rule, Redeliver, MaxAmnesia, InitSkew
VARIABLES ctr, lk, st, proc, rep, T, ack, tok, low, am, gset
vars == <<ctr, lk, st, proc, rep, T, ack, tok, low, am, gset>>
Q == (Cardinality(Nodes) \div 2) + 1
Max(S) == CHOOSE x \in S : \A y \in S : y <= x
MaxTok == Max({tok[a] : a \in Att} \cup {0})

Init == /\ ctr \in (IF InitSkew THEN [Nodes -> 0..1] ELSE [Nodes -> {0}])
        /\ lk = [n \in Nodes |-> None]
        /\ st = [a \in Att |-> "idle"]
        /\ proc = [a \in Att |-> {}]
        /\ rep = [a \in Att |-> {}]
        /\ T = [a \in Att |-> 0]
        /\ ack = [a \in Att |-> {}]
        /\ tok = [a \in Att |-> 0]
        /\ low = [a \in Att |-> 0]
        /\ am = 0
        /\ gset = [a \in Att |-> {}]

Start(a) == /\ st[a] = "idle"
            /\ st' = [st EXCEPT ![a] = "try"]
            /\ low' = [low EXCEPT ![a] = MaxTok]
            /\ UNCHANGED <<ctr, lk, proc, rep, T, ack, tok, am, gset>>

\* node n executes a's ACQUIRE (possibly very late, possibly again)
Grant(a, n) ==
    /\ st[a] # "idle"
    /\ n \notin proc[a] \/ Redeliver
    /\ lk[n] = None
    /\ ctr[n] < MaxC
    /\ lk' = [lk EXCEPT ![n] = a]
    /\ ctr' = [ctr EXCEPT ![n] = @ + 1]
    /\ rep' = [rep EXCEPT ![a] = @ \cup {<<n, ctr[n] + 1>>}]
    /\ proc' = [proc EXCEPT ![a] = @ \cup {n}]
    /\ UNCHANGED <<st, T, ack, tok, low, am, gset>>

\* client decides on a set of replies it has seen: one reply per node
Seen(a) == {G \in SUBSET rep[a] : /\ Cardinality(G) >= Q
                                  /\ \A x, y \in G : x[1] = y[1] => x = y}
Vals(G) == {x[2] : x \in G}
Median(G) == CHOOSE v \in Vals(G) :
                /\ Cardinality({x \in G : x[2] <= v}) >= Q
                /\ Cardinality({x \in G : x[2] >= v}) >= Q

Decide(a) ==
    /\ st[a] = "try"
    /\ \E G \in Seen(a) :
        LET m == Max(Vals(G))
            atm == {x[1] : x \in {y \in G : y[2] = m}} IN
        IF Rule = "noround2" THEN
            /\ tok' = [tok EXCEPT ![a] = m]
            /\ st' = [st EXCEPT ![a] = "held"]
            /\ UNCHANGED <<T, ack, gset>>
        ELSE IF Rule = "median" /\ Cardinality(G) = Cardinality(Nodes) THEN
            /\ tok' = [tok EXCEPT ![a] = Median(G)]
            /\ st' = [st EXCEPT ![a] = "held"]
            /\ UNCHANGED <<T, ack, gset>>
        ELSE
            /\ T' = [T EXCEPT ![a] = m]
            /\ ack' = [ack EXCEPT ![a] = atm]
            /\ gset' = IF Rule = "geqG" THEN [gset EXCEPT ![a] = {x[1] : x \in G}] ELSE gset
            /\ st' = [st EXCEPT ![a] = "raise"]
            /\ UNCHANGED tok
    /\ UNCHANGED <<ctr, lk, proc, rep, low, am>>

Setmax(a, n) ==
    /\ st[a] = "raise" /\ n \notin ack[a] /\ lk[n] = a
    /\ LET c == IF ctr[n] > T[a] THEN ctr[n] ELSE T[a] IN
        /\ ctr' = [ctr EXCEPT ![n] = c]
        /\ \/ Rule = "geq"
           \/ Rule = "geqG" /\ n \in gset[a]
           \/ Rule \in {"exact","median"} /\ c = T[a]
        /\ ack' = [ack EXCEPT ![a] = @ \cup {n}]
    /\ UNCHANGED <<lk, st, proc, rep, T, tok, low, am, gset>>

Complete(a) ==
    /\ st[a] = "raise" /\ Cardinality(ack[a]) >= Q
    /\ st' = [st EXCEPT ![a] = "held"]
    /\ tok' = [tok EXCEPT ![a] = T[a]]
    /\ UNCHANGED <<ctr, lk, proc, rep, T, ack, low, am, gset>>

Expire(n) == /\ lk[n] # None
             /\ lk' = [lk EXCEPT ![n] = None]
             /\ UNCHANGED <<ctr, st, proc, rep, T, ack, tok, low, am, gset>>

Amnesia(n) == /\ am < MaxAmnesia
              /\ am' = am + 1
              /\ ctr' = [ctr EXCEPT ![n] = 0]
              /\ lk' = [lk EXCEPT ![n] = None]
              /\ UNCHANGED <<st, proc, rep, T, ack, tok, low, gset>>

Next == \/ \E a \in Att : Start(a) \/ Decide(a) \/ Complete(a)
        \/ \E a \in Att, n \in Nodes : Grant(a, n) \/ Setmax(a, n)
        \/ \E n \in Nodes : Expire(n) \/ Amnesia(n)
Spec == Init /\ [][Next]_vars

Unique   == \A a, b \in Att : (a # b /\ tok[a] # 0) => tok[a] # tok[b]
RealTime == \A a \in Att : tok[a] # 0 => tok[a] > low[a]
ProbeDone == ~(\A a \in Att : tok[a] # 0)
Sym == Permutations(Nodes) \cup Permutations(Att)
================================================================================
