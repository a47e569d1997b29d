import Emulation
import JSON

/// The requests of a client to a route within a minute.
struct OktaRateWindow: Sendable, Equatable {
    /// Source: docs, rate limits.
    static let length = Duration.seconds(60)
    /// ours: clients and routes are few, so it is hardly reached.
    static let bound = RecordBound(count: 10_000)

    struct Key: Hashable, Sendable, CustomStringConvertible {
        let client: ExactText
        let route: ExactText

        var description: String { JSON.array([client.json, route.json]).text }
    }

    /// Empty for callers that are no client of the fixtures, who share one window.
    var clientID = ""
    var routeID = ""
    var began = Moment(unixSeconds: 0)
    var count = 0

    var ends: Moment { began + Self.length }

    /// Whether it is the current one; it is not after the clock was moved back.
    func contains(_ moment: Moment) -> Bool { began <= moment && moment < ends }

    /// Counts a request, in a new window if this one is over.
    mutating func add(at moment: Moment) {
        if !contains(moment) { (began, count) = (moment, 0) }
        count = min(count + 1, Ordinal.largest)
    }
}

extension OktaRateWindow: KeyedRecord, CodedRecord {
    var key: Key { Key(client: ExactText(clientID), route: ExactText(routeID)) }

    func clash(over name: Never?) -> String { "\(routeID) has two windows of \(clientID)" }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("client", &clientID)
        coder.member("route", &routeID)
        coder.member("began", &began)
        coder.member("count", &count, in: 0...Ordinal.largest)
    }
}

extension OktaState {
    /// Counts a request.
    ///
    /// - Returns: the window that it falls into.
    mutating func count(_ key: OktaRateWindow.Key, at moment: Moment) -> OktaRateWindow {
        let counted = rateWindows.change(key) { window in
            window.add(at: moment)
            return window
        }
        if let counted { return counted }
        let window = OktaRateWindow(clientID: key.client.text, routeID: key.route.text, began: moment, count: 1)
        rateWindows.add(window, within: OktaRateWindow.bound)
        return window
    }
}
