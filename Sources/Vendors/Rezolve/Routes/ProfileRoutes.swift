import Emulation
import JSON

/// What customers enter about themselves.
struct RezolveProfile: Sendable, Hashable {
    var title = ""
    var name = ""
    var firstName = ""
    var lastName = ""
    var email = ""
    var timeZone = "GMT"
    var allowsMarketing = false
    var updated = Moment(unixSeconds: 0)
}

/// The profile. Source: observed, vendor QA tests; the members are the union of those and of the documented object.
extension Rezolve {
    static func readProfile(_ call: RezolveCall, _ customer: RezolveCustomer) throws(Refused) -> Reply {
        .json(profileJSON(of: customer, dates: call.switches.profileDates))
    }

    /// Changes the members that were sent; ids, dates and devices cannot be changed (documented).
    static func updateProfile(_ call: inout RezolveCall, _ customer: inout RezolveCustomer) throws(Refused) -> Reply {
        let old = customer.profile
        customer.profile = try call.body {
            RezolveProfile(
                title: $0.optionalText("title") ?? old.title, name: $0.optionalText("name") ?? old.name,
                firstName: $0.optionalText("first_name") ?? old.firstName,
                lastName: $0.optionalText("last_name") ?? old.lastName, email: $0.optionalText("email") ?? old.email,
                timeZone: $0.optionalText("timezone") ?? old.timeZone,
                allowsMarketing: $0.bool("use_data_for_marketing") ?? old.allowsMarketing, updated: call.moment)
        }
        return .json(profileJSON(of: customer, dates: call.switches.profileDates))
    }

    private static func profileJSON(of customer: RezolveCustomer, dates: RezolveSwitches.ProfileDates) -> JSON {
        let profile = customer.profile
        return [
            "id": .string(customer.entityID), "entity_id": .string(customer.entityID),
            "title": .string(profile.title), "name": .string(profile.name),
            "first_name": .string(profile.firstName), "last_name": .string(profile.lastName),
            "email": .string(profile.email), "phone": nil, "country_code": nil, "metadata": nil,
            "timezone": .string(profile.timeZone), "use_data_for_marketing": .bool(profile.allowsMarketing),
            "devices": [], "date_created": date(customer.created, dates), "date_updated": date(profile.updated, dates),
        ]
    }

    private static func date(_ moment: Moment, _ form: RezolveSwitches.ProfileDates) -> JSON {
        switch form {
        case .unixSeconds: JSON(moment.wholeSeconds)
        case .iso: .string(moment.rfc3339)
        }
    }
}
