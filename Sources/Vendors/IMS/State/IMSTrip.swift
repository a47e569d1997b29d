import Emulation
import JSON

/// A recorded trip of a user. Source: that the SDK submits trips is documented (site); the members are ours.
struct IMSTrip: Sendable {
    let id: String
    let started: IMSTime
    let ended: IMSTime
    /// As it was written.
    let distance: JSONNumber
    let vehicleID: String?
    let pointCount: Int
    /// The points as a JSON array, which takes a tenth of the memory of a parsed one.
    let points: [UInt8]
    let received: Moment
    let user: Int
    /// The place in the order in which trips came, from 1 on without gaps.
    var number = 0

    /// Reads a trip.
    ///
    /// - Throws: ``IMSFailure/bodyInvalid``.
    init(_ body: IMSBody, of user: Int, received: Moment) throws(IMSRefusal) {
        id = try body.requiredText("trip_id", atMost: 64)
        started = try body.requiredTime("started_at")
        ended = try body.requiredTime("ended_at")
        guard ended.unixSeconds >= started.unixSeconds else { throw body.refusal("ended_at", "lies before started_at") }
        distance = try body.requiredNumber("distance_meters", in: 0...1e12)
        vehicleID = try body.text("vehicle_id")
        var points: [JSON] = []
        for (index, value) in try body.array("points").enumerated() {
            guard let object = value.object else { throw body.refusal("points.\(index)", "is no object") }
            points.append(try Self.point(IMSBody(object, at: "points.\(index)")))
        }
        pointCount = points.count
        self.points = JSON.array(points).bytes
        self.received = received
        self.user = user
    }

    /// A point with what is known of it; other members are ignored.
    private static func point(_ body: IMSBody) throws(IMSRefusal) -> JSON {
        var point: JSONObject = [
            "at": .string(try body.requiredTime("at").text),
            "lat": .number(try body.requiredNumber("lat", in: -90...90)),
            "lon": .number(try body.requiredNumber("lon", in: -180...180)),
        ]
        // ours: a device does not always know its speed.
        if body.object["speed_mps"] != nil {
            point["speed_mps"] = .number(try body.requiredNumber("speed_mps", in: 0...1e6))
        }
        return .object(point)
    }

    /// How long the trip took, in seconds.
    var duration: Double { ended.unixSeconds - started.unixSeconds }

    /// An estimate of the memory that the trip keeps, in bytes.
    var byteCount: Int { points.count + id.utf8.count + (vehicleID?.utf8.count ?? 0) + 256 }

    /// Whether a client sent the same thing, whatever the form of its numbers.
    func hasSameContent(as other: IMSTrip) -> Bool {
        started.text == other.started.text && ended.text == other.ended.text
            && distance.isEquivalent(to: other.distance) && vehicleID == other.vehicleID
            && pointCount == other.pointCount
            && (points == other.points || pointList.isEquivalent(to: other.pointList))
    }

    /// The members in which a client sent something else before, with both values where they are short.
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

    /// The points, which were written by ourselves.
    private var pointList: JSON { (try? JSON.parse(points)) ?? [] }

    /// The trip without its points.
    var json: JSON { .object(members) }

    /// The trip with its points.
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
