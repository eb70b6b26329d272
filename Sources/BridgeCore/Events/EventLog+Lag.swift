extension EventLog {
    /// How many records of its connections a reader has not read yet, wanted or not, lost or not.
    ///
    /// As long as the disk was not asked where it stands, all that are kept.
    package func lag(of cursor: LogCursor) -> Int {
        cursor.places.reduce(0) { sum, place in
            let history = histories[Int(place.connection.number)]
            return sum + Int(history.endOrdinal - (place.next ?? history.firstOrdinal))
        }
    }

    /// Has what went away by now not count as outrunning a reader, who will be told of it all the same.
    package func forgive(_ cursor: inout LogCursor) {
        for index in cursor.places.indices {
            let place = cursor.places[index]
            cursor.places[index].begin = max(
                place.begin,
                histories[Int(place.connection.number)].firstOrdinal
            )
        }
    }

    /// Whether records went away that the reader had still to read when it began.
    ///
    /// What was lost before it began does not count, and it has not begun while it seeks where to.
    package func hasOutrun(_ cursor: LogCursor) -> Bool {
        !cursor.isSeeking
            && cursor.places.contains { place in
                guard let next = place.next else { return false }
                return max(next, place.begin) < histories[Int(place.connection.number)].firstOrdinal
            }
    }
}
