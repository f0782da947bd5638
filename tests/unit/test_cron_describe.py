"""What a cron rule says of itself."""

import pytest

from echomq_worker.domain.cron import cron_rule


@pytest.mark.parametrize(
    ("expression", "says"),
    [
        ("0 9 * * MON-FRI", "at 09:00 on Monday to Friday"),
        ("30 2 * * *", "at 02:30 every day"),
        ("0,30 2,4 * * *", "at 02:00, 02:30, 04:00 and 04:30 every day"),
        ("5 30 2 * * *", "at 02:30:05 every day"),
        ("* * * * *", "every minute"),
        ("0-59 * * * *", "every minute"),
        ("*/15 * * * *", "every 15 minutes"),
        ("*/7 * * * *", "at minutes 0, 7, 14, 21, 28, 35, 42, 49 and 56 of every hour"),
        ("5/15 * * * *", "at minutes 5, 20, 35 and 50 of every hour"),
        ("5 * * * *", "at minute 5 of every hour"),
        ("1-10 * * * *", "at minutes 1 to 10 of every hour"),
        ("0 * * * *", "every hour"),
        ("@hourly", "every hour"),
        ("0 */2 * * *", "every 2 hours"),
        ("5 */2 * * *", "at minute 5 of every 2nd hour"),
        ("0 */5 * * *", "at minute 0 of hours 0, 5, 10, 15 and 20"),
        ("0 9-17 * * 1-5", "every hour from 09:00 to 17:00 on Monday to Friday"),
        ("0 22-2 * * *", "every hour from 22:00 to 02:00"),
        ("*/15 9-17 * * 1-5", "every 15 minutes from 09:00 to 17:59 on Monday to Friday"),
        ("* 2 * * *", "every minute from 02:00 to 02:59"),
        ("*/5 1-3,7 * * *", "every 5 minutes of hours 1 to 3 and 7"),
        ("*/10 * * * * *", "every 10 seconds"),
        ("*/10 0 12 * * *", "every 10 seconds of minute 0 of hour 12"),
        ("30 * * * * *", "at second 30 of every minute"),
        ("5,10 */5 * * * *", "at seconds 5 and 10 of every 5th minute"),
        ("* * 3 * * *", "every second of hour 3"),
        ("@weekly", "at 00:00 on Sunday"),
        ("0 0 * * 0,6", "at 00:00 on Saturday and Sunday"),
        ("0 0 * * 1-5/2", "at 00:00 on Monday, Wednesday and Friday"),
        ("0 0 * * sat-mon", "at 00:00 on Saturday to Monday"),
        ("0 0 * * 5L", "at 00:00 on the last Friday of the month"),
        ("0 0 * * 5#2", "at 00:00 on the 2nd Friday of the month"),
        ("0 0 * 1-3 5#2", "at 00:00 on the 2nd Friday in January to March"),
        ("*/5 * * 6 mon", "every 5 minutes on Monday in June"),
        ("0 9 * 6 *", "at 09:00 every day in June"),
        ("* * * 6,7 *", "every minute in June and July"),
        ("@monthly", "at 00:00 on day 1 of the month"),
        ("@yearly", "at 00:00 on day 1 of January"),
        ("0 0 1-7 nov-feb *", "at 00:00 on days 1 to 7 of November to February"),
        ("0 0 */10 * *", "at 00:00 on every 10th day from day 1 of the month"),
        ("0 0 */40 * *", "at 00:00 on day 1 of the month"),
        ("0 0 L * *", "at 00:00 on the last day of the month"),
        ("0 0 L-2 * *", "at 00:00 on the 3rd last day of the month"),
        ("0 0 LW 6 *", "at 00:00 on the last workday of June"),
        ("0 0 1,15W * *", "at 00:00 on day 1 and the workday nearest to day 15 of the month"),
        ("0 0 13 * FRI", "at 00:00 on day 13 of the month or on Friday"),
        ("0 0 13 * mon,tue", "at 00:00 on day 13 of the month or on Monday or Tuesday"),
        ("48 14 31 jun sun", "at 14:48 on day 31 of the month or on Sunday, only in June"),
        ("0 0 */2 * 1", "at 00:00 on every 2nd day from day 1 of the month if it is Monday"),
        ("0 0 29 2 */7", "at 00:00 on day 29 of the month if it is Sunday, only in February"),
        ("0 0 *,5 * 1", "at 00:00 on Monday"),
        ("0 0 5,* * 1", "at 00:00 every day"),
        ("0 0 1-31 * 1", "at 00:00 every day"),
        ("0 0 ? * 0-7", "at 00:00 every day"),
    ],
)
def test_a_rule_says_in_english_when_it_fires(expression: str, says: str):
    assert cron_rule(expression, tz="Europe/Berlin").describe() == f"{says}, Europe/Berlin"
    assert cron_rule(expression).describe() == f"{says}, UTC"
