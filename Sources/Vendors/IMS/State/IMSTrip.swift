import Emulation
import JSON

/// A recorded trip of a user. Source: that the SDK submits trips is documented (site); the members are ours.
struct IMSTrip: Sendable {
    let id: String
    let started: RFC3339Time
    let ended: RFC3339Time
    /// As written by the client.
    let distance: JSONNumber
    let vehicleID: String?
    let pointCount: Int
    /// The points as a JSON array, which takes a tenth of the memory of a parsed one.
    let points: [UInt8]
    let received: Moment
    let user: Int
    /// The position in order of arrival, from 1 on without gaps.
    var number = 0

    init(_ body: inout FieldReader, of user: Int, received: Moment) {
        id = body.text("trip_id", atMost: 64)
        started = body.time("started_at")
        ended = body.time("ended_at")
        if ended.unixSeconds < started.unixSeconds { body.refuse("ended_at", "lies before started_at") }
        distance = body.number("distance_meters", in: 0...1e12, isRequired: true) ?? JSONNumber(0)
        vehicleID = body.optionalText("vehicle_id")
        let points = body.objects("points", Self.point)
        pointCount = points.count
        self.points = JSON.array(points).bytes
        self.received = received
        self.user = user
    }

    /// A point with its known members; others are ignored. A device does not always know its speed (ours).
    private static func point(_ body: inout FieldReader) -> JSON {
        var point: JSONObject = ["at": .string(body.time("at").text)]
        for (name, range) in [("lat", -90.0...90), ("lon", -180.0...180)] {
            point.append(name, body.number(name, in: range, isRequired: true).map(JSON.number) ?? .null)
        }
        point["speed_mps"] = body.number("speed_mps", in: 0...1e6).map(JSON.number)
        return .object(point)
    }

    /// How long the trip took, in seconds.
    var duration: Double { ended.unixSeconds - started.unixSeconds }

    /// Whether both trips have the same content, whatever the form of their numbers.
    func hasSameContent(as other: IMSTrip) -> Bool {
        started.text == other.started.text && ended.text == other.ended.text
            && distance.isEquivalent(to: other.distance) && vehicleID == other.vehicleID
            && pointCount == other.pointCount
            && (points == other.points || pointList.isEquivalent(to: other.pointList))
    }

    /// The members that differ from an earlier upload, with both values where they are short.
    func differences(from other: IMSTrip) -> String {
        var differences: [String] = []
        for (name, mine, theirs) in [
            ("started_at", started.text, other.started.text), ("ended_at", ended.text, other.ended.text),
            ("vehicle_id", vehicleID ?? "null", other.vehicleID ?? "null"),
        ] where mine != theirs { differences.append("\(name): \(mine), before \(theirs)") }
        if !distance.isEquivalent(to: other.distance) {
            differences.append("distance_meters: \(distance.literal), before \(other.distance.literal)")
        }
        if differences.isEmpty { differences.append("points: \(pointCount) of them, before \(other.pointCount)") }
        return differences.joined(separator: "; ")
    }

    /// The points; they parse because this server wrote them.
    private var pointList: JSON { (try? JSON.parse(points)) ?? [] }

    /// The trip without its points.
    var json: JSON { .object(members) }

    var fullJSON: JSON {
        var members = members
        members["points"] = pointList
        return .object(members)
    }

    private var members: JSONObject {
        [
            "trip_id": .string(id), "started_at": .string(started.text), "ended_at": .string(ended.text),
            "distance_meters": .number(distance), "vehicle_id": JSON(vehicleID), "point_count": JSON(pointCount),
            "received_at": JSON(received.wholeSeconds),
        ]
    }
}
